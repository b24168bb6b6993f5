import type { createLogUpdate } from 'log-update';
import type { AppError } from '../../contract/errors.ts';
import type { RunState } from '../../contract/runState.ts';
import type { OpenRun, RunNote } from '../../engine/index.ts';
import { bar, clusterLine, deviceLines, totalLine } from './progressText.ts';
import { toLog, toStandardError } from './terminal.ts';

/**
 * Reports a run to the user who watches it. All output except JSON goes to standard error; tables are in the
 * folder.
 */
export interface Reporter {
  line(text: string): void;
  /** A problem that does not end the run; printed even with --quiet. */
  wrong(text: string): void;
  note(note: RunNote): void;
  state(state: RunState): void;
  error(error: AppError): void;
  follow(session: OpenRun): void;
  end(): void;
}

const TABLE_INTERVAL_MS = 250;
const LINE_INTERVAL_MS = 10_000;

export type ReporterKind = 'json' | 'quiet' | 'table' | 'lines';

/**
 * `verbose` adds the details of errors, the run's state changes, and a line per device if there is no live
 * table.
 */
export async function createReporter(kind: ReporterKind, verbose: boolean): Promise<Reporter> {
  switch (kind) {
    case 'json':
      return new JsonReporter();
    case 'quiet':
      return new LineReporter({ say: toLog, sayWrong: toStandardError }, verbose);
    case 'table':
      return new TableReporter((await import('log-update')).createLogUpdate(process.stderr), verbose);
    case 'lines':
      return new LineReporter({ say: toStandardError, sayWrong: toStandardError }, verbose);
  }
}

export function errorText(error: AppError): string {
  return `${error.title}. ${error.cause}\n  What to do: ${error.nextStep}`;
}

function progressLines(session: OpenRun, verbose: boolean): string[] {
  const progress = session.progress();
  const devices = verbose ? deviceLines(session.deviceStates(), progress).map((line) => `  ${line}`) : [];
  return [totalLine(progress), ...clusterLines(session), ...devices];
}

function clusterLines(session: OpenRun): string[] {
  const cluster = session.clusterState();
  const line = cluster && clusterLine(cluster);
  return line ? [line] : [];
}

type Say = (line: string) => void;

/** Prints lines; the details of errors and changes of state go to the log only, unless `verbose`. */
class LineReporter implements Reporter {
  readonly line: Say;
  readonly wrong: Say;
  protected readonly verbose: boolean;
  private timer: NodeJS.Timeout | undefined;

  constructor({ say, sayWrong }: { say: Say; sayWrong: Say }, verbose: boolean) {
    this.line = say;
    this.wrong = sayWrong;
    this.verbose = verbose;
  }

  note({ level, message }: RunNote): void {
    (level === 'error' ? this.wrong : this.line)(message);
  }

  state(state: RunState): void {
    (this.verbose ? this.line : toLog)(`run is ${state.phase}`);
  }

  error(error: AppError): void {
    this.wrong(errorText(error));
    if (error.detail) (this.verbose ? this.wrong : toLog)(error.detail);
  }

  follow(session: OpenRun): void {
    this.timer = setInterval(() => {
      for (const line of progressLines(session, this.verbose)) this.line(line);
    }, LINE_INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.timer);
  }
}

type Screen = ReturnType<typeof createLogUpdate>;

/** A live table on a terminal: a row per device or node, the total, the time left. Notes scroll by above it. */
class TableReporter extends LineReporter {
  private readonly screen: Screen;
  private drawing: NodeJS.Timeout | undefined;
  private logging: NodeJS.Timeout | undefined;

  constructor(screen: Screen, verbose: boolean) {
    const say = (text: string): void => {
      screen.clear();
      toStandardError(text);
    };
    super({ say, sayWrong: say }, verbose);
    this.screen = screen;
  }

  override follow(session: OpenRun): void {
    const draw = (): void => {
      const progress = session.progress();
      const devices = deviceLines(session.deviceStates(), progress);
      const total = `${bar(progress.fraction ?? 0)} ${totalLine(progress)}`;
      this.screen([...devices, ...clusterLines(session), total].join('\n'));
    };
    this.drawing = setInterval(draw, TABLE_INTERVAL_MS);
    // The live table leaves no trace.
    this.logging = setInterval(() => {
      for (const line of progressLines(session, true)) toLog(line);
    }, LINE_INTERVAL_MS);
  }

  override end(): void {
    clearInterval(this.drawing);
    clearInterval(this.logging);
    this.screen.clear();
    this.screen.done();
  }
}

/** Events as JSON lines on standard output, for programs. */
class JsonReporter implements Reporter {
  private timer: NodeJS.Timeout | undefined;

  line(text: string): void {
    this.write({ type: 'message', text });
  }

  wrong(text: string): void {
    this.line(text);
  }

  note(note: RunNote): void {
    this.write({ type: 'note', ...note });
  }

  state(state: RunState): void {
    this.write({ type: 'state', state });
  }

  error(error: AppError): void {
    this.write({ type: 'error', error });
  }

  follow(session: OpenRun): void {
    const tell = (): void => {
      this.write({
        type: 'progress',
        progress: session.progress(),
        devices: session.deviceStates(),
        cluster: session.clusterState(),
      });
    };
    this.timer = setInterval(tell, 1000);
  }

  end(): void {
    clearInterval(this.timer);
  }

  private write(event: object): void {
    const line = JSON.stringify(event);
    toLog(line);
    process.stdout.write(`${line}\n`);
  }
}
