import { appError, AppFailure } from '../../contract/errors.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { READING_SILENT_MS } from '../files/regularFile.ts';
import { ChildProcess, type ProcessExit } from './childProcess.ts';
import { RegularLook } from './deadlines.ts';

const STOP_GRACE_MS = 1_000;

/** A process that reads inputs and answers in lines. It is killed if it writes nothing for long. */
export class ReadingProcess {
  private readonly child: ChildProcess;
  private readonly silentMs: number;
  private readonly watch = new RegularLook((now, heldUpMs) => this.look(now, heldUpMs));
  /** Null until the process has received its command. */
  private lastWordAt: number | null = null;
  private fault: AppFailure | undefined;

  constructor(launch: PythonLaunch, onLine: (line: string) => void, silentMs = READING_SILENT_MS) {
    this.silentMs = silentMs;
    this.child = new ChildProcess(launch, {
      line: (line) => {
        this.lastWordAt = performance.now();
        onLine(line);
      },
      overlong: () => this.condemn('The process that reads the files wrote a line that does not end.'),
    });
  }

  /** Sends the complete command. From then on the process must give signs of life. */
  send(text: string): void {
    this.lastWordAt = performance.now();
    this.child.write(text);
    this.child.closeInput();
  }

  /** Resolves when the process has ended. Rejects with AppFailure if it had to be killed. */
  async ended(): Promise<ProcessExit> {
    const exit = await this.child.ended;
    this.watch.stop();
    if (this.fault) throw this.fault;
    return exit;
  }

  /** Ends the process, whatever it is doing. */
  async stop(): Promise<void> {
    this.watch.stop();
    await this.child.stop(STOP_GRACE_MS);
  }

  private look(now: number, heldUpMs: number): void {
    if (this.lastWordAt === null) return;
    this.lastWordAt += heldUpMs;
    if (now - this.lastWordAt <= this.silentMs) return;
    this.condemn(`Reading the files has not advanced for ${Math.round(this.silentMs / 60_000)} minutes.`);
  }

  private condemn(cause: string): void {
    if (this.fault) return;
    const nextStep = 'Check the disk with the files, then try again.';
    this.fault = new AppFailure(appError('input_unreadable', cause, { nextStep }));
    this.child.kill();
  }
}
