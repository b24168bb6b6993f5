import { basename } from 'node:path';
import { appError, asAppError, AppFailure, type AppError } from '../../../contract/errors.ts';
import {
  prepareEventSchema,
  type PrepareCommand,
  type PrepareEvent,
  type PrepareFailed,
} from '../../../contract/protocol/index.ts';
import { message, type Wording } from '../../../contract/messages.ts';
import type { PythonLaunch } from '../../environment/pythonLaunch.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { BackendProcess, type ProcessEvent } from '../../workers/backendProcess.ts';
import { exitMessage, type ProcessExit } from '../../workers/describeExit.ts';
import type { RunNotes } from '../runNotes.ts';
import type { PrepareStageEvent } from './workEvents.ts';

const STOP_GRACE_MS = 2_000;

const FAILURE_TITLES: Record<PrepareFailed['code'], AppError['code']> = {
  input_unreadable: 'input_unreadable',
  input_truncated: 'input_truncated',
  not_sequence_file: 'not_sequence_file',
  input_changed: 'input_changed',
  disk_full: 'disk_full',
  folder_unwritable: 'folder_unwritable',
  internal_error: 'prepare_failed',
};

/** Runs prepare once over all inputs and files what it reports, in the order reported. */
export class PrepareStage {
  private readonly store: RunStore;
  private readonly notes: RunNotes;
  private readonly emit: (event: PrepareStageEvent) => void;
  private readonly inputs: PrepareCommand['inputs'];
  private readonly process: BackendProcess<PrepareEvent>;
  private filing: Promise<void> = Promise.resolve();
  private verdict: AppError | undefined;
  private outcome: 'open' | 'finished' | 'failed' | 'stopped' = 'open';

  constructor(
    launch: PythonLaunch,
    logPath: string,
    command: PrepareCommand,
    store: RunStore,
    notes: RunNotes,
    emit: (event: PrepareStageEvent) => void,
  ) {
    this.store = store;
    this.notes = notes;
    this.emit = emit;
    this.inputs = command.inputs;
    this.process = new BackendProcess(launch, logPath, prepareEventSchema, (event) => {
      this.take(event);
    });
    this.process.send(command);
  }

  async stop(): Promise<void> {
    if (this.outcome === 'open') this.outcome = 'stopped';
    await this.process.stop(STOP_GRACE_MS);
    await this.filing;
  }

  private take(event: ProcessEvent<PrepareEvent>): void {
    switch (event.type) {
      case 'message':
        this.filing = this.filing
          .then(() => this.file(event.message))
          .catch((reason: unknown) => {
            this.fail(asAppError(reason));
          });
        break;
      case 'fault':
        this.verdict ??= event.error;
        break;
      case 'exit':
        void this.filing.then(() => {
          this.onExit(event.exit);
        });
        break;
    }
  }

  private async file(event: PrepareEvent): Promise<void> {
    if (this.outcome !== 'open') return;
    switch (event.type) {
      case 'hello':
        break;
      case 'progress':
        this.emit({ type: 'prepare_progress', progress: event });
        break;
      case 'records':
        await this.store.ingestRecords(event);
        break;
      case 'part':
        this.emit({
          type: 'part_prepared',
          key: event.key,
          registered: await this.store.registerPart(event),
        });
        break;
      case 'input_problem':
        await this.store.addInputProblem(event);
        this.notes.add(
          'warning',
          event.code,
          message('note.input_problem', {
            file: basename(this.inputs[event.input]?.path ?? ''),
            text: { text: event.message, wording: problemWording(event) },
          }),
          event.examples.map(({ name, detail }) => `${name}: ${detail}`).join('\n'),
        );
        break;
      case 'input_done':
        await this.store.finishInput(event);
        break;
      case 'done':
        await this.store.finishPrepare(event);
        this.outcome = 'finished';
        this.emit({ type: 'prepared' });
        break;
      case 'prepare_failed':
        throw new AppFailure(
          appError(FAILURE_TITLES[event.code], event.message, { nextStep: event.next_step }),
        );
    }
  }

  private onExit(exit: ProcessExit): void {
    if (this.outcome !== 'open') return;
    this.fail(
      this.verdict ??
        appError('prepare_failed', message('prepare.stopped', { how: exitMessage(exit) }), {
          nextStep: message('prepare.stopped.next'),
          detail: exit.lastLines.join('\n'),
        }),
    );
  }

  private fail(error: AppError): void {
    if (this.outcome !== 'open') return;
    this.outcome = 'failed';
    this.process.kill();
    this.emit({ type: 'prepare_failed', error });
  }
}

/** Python has these sentences; windows have them by their codes. */
function problemWording({ code, count }: { code: string; count: number }): Wording {
  return { key: `problem.${code}`, values: { count } };
}
