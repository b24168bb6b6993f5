import { createLogUpdate } from 'log-update';
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
export function createReporter(kind: ReporterKind, verbose: boolean): Reporter {
  switch (kind) {
    case 'json':
      return new JsonReporter();
    case 'quiet':
      return new LineReporter({ say: toLog, sayWrong: toStandardError }, verbose);
    case 'table':
      return new TableReporter(verbose);
    case 'lines':
      return new LineReporter({ say: toStandardError, sayWrong: toStandardError }, verbose);
  }
}

export function errorText(error: AppError): string {
  return `${error.title}. ${error.cause}\n  What to do: ${error.nextStep}`;
}

/** Prints changes of state and errors; writes further details to the log only. */
function sayState(state: RunState, say: (line: string) => void): void {
  say(`run is ${state.phase}`);
}

function sayError(error: AppError, verbose: boolean): void {
  toStandardError(errorText(error));
  if (error.detail) (verbose ? toStandardError : toLog)(error.detail);
}

function progressLines(session: OpenRun, verbose: boolean): string[] {
  const devices = verbose ? deviceLines(session.deviceStates()).map((line) => `  ${line}`) : [];
  return [totalLine(session.progress()), ...clusterLines(session), ...devices];
}

function clusterLines(session: OpenRun): string[] {
  const cluster = session.clusterState();
  const line = cluster && clusterLine(cluster);
  return line ? [line] : [];
}

type Say = (line: string) => void;

class LineReporter implements Reporter {
  private readonly say: Say;
  private readonly sayWrong: Say;
  private readonly verbose: boolean;
  private timer: NodeJS.Timeout | undefined;

  constructor({ say, sayWrong }: { say: Say; sayWrong: Say }, verbose: boolean) {
    this.say = say;
    this.sayWrong = sayWrong;
    this.verbose = verbose;
  }

  line(text: string): void {
    this.say(text);
  }

  wrong(text: string): void {
    this.sayWrong(text);
  }

  note({ level, message }: RunNote): void {
    (level === 'error' ? this.sayWrong : this.say)(message);
  }

  state(state: RunState): void {
    sayState(state, this.verbose ? this.say : toLog);
  }

  error(error: AppError): void {
    sayError(error, this.verbose);
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

/** A live table on a terminal: a row per device or node, the total, the time left. Notes scroll by above it. */
class TableReporter implements Reporter {
  private readonly verbose: boolean;
  private readonly screen = createLogUpdate(process.stderr);
  private timer: NodeJS.Timeout | undefined;
  private logTimer: NodeJS.Timeout | undefined;

  constructor(verbose: boolean) {
    this.verbose = verbose;
  }

  line(text: string): void {
    this.screen.clear();
    toStandardError(text);
  }

  wrong(text: string): void {
    this.line(text);
  }

  note(note: RunNote): void {
    this.line(note.message);
  }

  state(state: RunState): void {
    sayState(state, this.verbose ? (line) => this.line(line) : toLog);
  }

  error(error: AppError): void {
    this.screen.clear();
    sayError(error, this.verbose);
  }

  follow(session: OpenRun): void {
    const draw = (): void => {
      const progress = session.progress();
      const devices = deviceLines(session.deviceStates());
      const total = `${bar(progress.fraction ?? 0)} ${totalLine(progress)}`;
      this.screen([...devices, ...clusterLines(session), total].join('\n'));
    };
    this.timer = setInterval(draw, TABLE_INTERVAL_MS);
    // The live table leaves no trace.
    this.logTimer = setInterval(() => {
      for (const line of progressLines(session, true)) toLog(line);
    }, LINE_INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.timer);
    clearInterval(this.logTimer);
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
