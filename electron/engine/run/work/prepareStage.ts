import { basename } from 'node:path';
import { appError, asAppError, type AppError, AppFailure, errorOf } from '../../../contract/errors.ts';
import {
  prepareEventSchema,
  type PrepareCommand,
  type PrepareEvent,
  type PrepareFailed,
  type PrepareProgress,
} from '../../../contract/protocol/index.ts';
import { message } from '../../../contract/messages.ts';
import { formatCount } from '../../../contract/terminal/format.ts';
import { isBlocking } from '../../../contract/problems.ts';
import type { PythonLaunch } from '../../environment/pythonLaunch.ts';
import { READING_SILENT_MS } from '../../system/regularFile.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { Registered } from '../../store/types.ts';
import { BackendProcess, type ProcessEvent } from '../../workers/backendProcess.ts';
import { RegularLook } from '../../workers/deadlines.ts';
import { exitMessage, type ProcessExit } from '../../workers/childProcess.ts';
import { inputLeftOut, problemNoted, type RunNotes } from '../runNotes.ts';

const STOP_GRACE_MS = 2_000;
/** The number of events that may wait to be stored before prepare has to wait too. */
const MOST_WAITING = 256;

export type PrepareStageEvent =
  | { type: 'prepare_progress'; progress: PrepareProgress }
  | { type: 'part_prepared'; key: string; registered: Registered }
  | { type: 'prepared' }
  /** One of the inputs can't be used: the others are read again without it. */
  | { type: 'input_left_out'; input: number; firstRow: number }
  | { type: 'prepare_failed'; error: AppError };

/** Runs prepare once over all inputs and stores its reports in the order reported. */
export class PrepareStage {
  private readonly store: RunStore;
  private readonly notes: RunNotes;
  private readonly emit: (event: PrepareStageEvent) => void;
  private readonly inputs: PrepareCommand['inputs'];
  private readonly process: BackendProcess<PrepareEvent>;
  private filing: Promise<void> = Promise.resolve();
  private waiting = 0;
  private readonly strict: boolean;
  private readonly silentMs: number;
  private lastWordAt = performance.now();
  private readonly watch = new RegularLook((now, heldUpMs) => this.look(now, heldUpMs));
  private verdict: AppError | undefined;
  private outcome: 'open' | 'finished' | 'failed' | 'stopped' = 'open';

  constructor(
    launch: PythonLaunch,
    logPath: string,
    command: PrepareCommand,
    store: RunStore,
    notes: RunNotes,
    emit: (event: PrepareStageEvent) => void,
    strict: boolean,
    silentMs = READING_SILENT_MS,
  ) {
    this.strict = strict;
    this.silentMs = silentMs;
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
        this.lastWordAt = performance.now();
        this.waiting += 1;
        if (this.waiting > MOST_WAITING) this.process.hold();
        this.filing = this.filing
          .then(() => this.file(event.message))
          .catch((reason: unknown) => {
            this.fail(asAppError(reason));
          })
          .finally(() => this.filed());
        break;
      case 'fault':
        this.verdict ??= event.error.code === 'protocol_garbage' ? readingFailed(event.error) : event.error;
        break;
      case 'exit':
        this.watch.stop();
        void this.filing.then(() => {
          this.onExit(event.exit);
        });
        break;
    }
  }

  private filed(): void {
    this.waiting -= 1;
    // This program, and not prepare, caused the wait.
    this.lastWordAt = performance.now();
    if (this.waiting <= MOST_WAITING / 2) this.process.release();
  }

  /** A read that never returns, such as from a lost network disk, would block the run for ever. */
  private look(now: number, heldUpMs: number): void {
    this.lastWordAt += heldUpMs;
    if (this.waiting > 0 || now - this.lastWordAt <= this.silentMs) return;
    const minutes = Math.round(this.silentMs / 60_000);
    this.verdict ??= appError(
      'prepare_failed',
      `Reading the input has not advanced for ${minutes} minutes.`,
      {
        nextStep: 'Check the disk with the inputs, then resume: what was read and computed so far is kept.',
      },
    );
    this.process.kill();
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
          problemNoted(this.pathOf(event.input), event),
          event.examples
            .slice(0, 5)
            .map(({ name, detail }) => `${name}: ${detail}`)
            .join('\n'),
        );
        break;
      case 'input_done':
        await this.store.finishInput(event);
        break;
      case 'done':
        await this.store.finishPrepare(event);
        await this.noteTakenOver();
        this.outcome = 'finished';
        this.emit({ type: 'prepared' });
        break;
      case 'prepare_failed':
        if (event.input !== null && this.canLeaveOut(event)) {
          await this.leaveOut(event.input, event);
          break;
        }
        if (event.input !== null && event.code === 'input_changed')
          await this.store.forgetChanged(event.input);
        throw new AppFailure(
          errorOf(event, event.input === null ? null : basename(this.pathOf(event.input))),
        );
    }
  }

  private async noteTakenOver(): Promise<void> {
    const { residues, residuesTakenOver: taken } = await this.store.counts();
    if (taken === 0) return;
    const said = { taken: formatCount(taken), residues: formatCount(residues.total) };
    this.notes.add('info', 'taken_over', message('note.taken_over', said));
  }

  private canLeaveOut(failure: PrepareFailed): boolean {
    return !this.strict && this.inputs.length > 1 && isBlocking(failure);
  }

  private pathOf(input: number): string {
    return this.inputs.find((one) => one.input === input)?.path ?? '';
  }

  /** The run continues without a file that can't be read as it was when the run was created. */
  private async leaveOut(input: number, { code, values }: PrepareFailed): Promise<void> {
    const firstRow = await this.store.failInput(input, { code, values });
    this.notes.add('warning', code, inputLeftOut(this.pathOf(input), { code, values }));
    this.outcome = 'failed';
    this.process.kill();
    this.emit({ type: 'input_left_out', input, firstRow });
  }

  private onExit(exit: ProcessExit): void {
    if (this.outcome !== 'open') return;
    this.fail(
      this.verdict ??
        appError('prepare_failed', message('prepare.stopped', { how: exitMessage(exit) }), {
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

/** Unlike a worker, prepare is not restarted automatically. */
function readingFailed({ cause, detail }: AppError): AppError {
  return appError('prepare_failed', cause, {
    nextStep: message('prepare.stopped.next'),
    ...(detail === undefined ? {} : { detail }),
  });
}
