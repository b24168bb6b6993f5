import { createLogUpdate } from 'log-update';
import type { AppError } from '../../contract/errors.ts';
import type { RunState } from '../../contract/runState.ts';
import type { OpenRun, RunNote } from '../../engine/index.ts';
import { bar, deviceLine, totalLine } from './progressText.ts';
import { toStandardError } from './terminal.ts';

/** How a run is reported to the user who watches it. Everything but JSON goes to standard error; tables lie in the folder. */
export interface Reporter {
  line(text: string): void;
  note(note: RunNote): void;
  state(state: RunState): void;
  error(error: AppError): void;
  follow(session: OpenRun): void;
  end(): void;
}

const TABLE_INTERVAL_MS = 250;
const LINE_INTERVAL_MS = 10_000;

export type ReporterKind = 'json' | 'quiet' | 'table' | 'lines';

/** `verbose` adds a line per device where there is no live table. */
export function createReporter(kind: ReporterKind, log: (line: string) => void, verbose: boolean): Reporter {
  switch (kind) {
    case 'json':
      return new JsonReporter(log);
    case 'quiet':
      return new LineReporter(log, () => undefined, Number.POSITIVE_INFINITY, verbose);
    case 'table':
      return new TableReporter(log);
    case 'lines':
      return new LineReporter(log, toStandardError, LINE_INTERVAL_MS, verbose);
  }
}

export function errorText(error: AppError): string {
  return `${error.title}. ${error.cause}\n  What to do: ${error.nextStep}`;
}

class LineReporter implements Reporter {
  private readonly log: (line: string) => void;
  private readonly write: (line: string) => void;
  private readonly intervalMs: number;
  private readonly verbose: boolean;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    log: (line: string) => void,
    write: (line: string) => void,
    intervalMs: number,
    verbose: boolean,
  ) {
    this.log = log;
    this.write = write;
    this.intervalMs = intervalMs;
    this.verbose = verbose;
  }

  line(text: string): void {
    this.log(text);
    this.write(text);
  }

  note(note: RunNote): void {
    this.line(note.message);
  }

  state(state: RunState): void {
    this.log(`run is ${state.phase}`);
  }

  error(error: AppError): void {
    this.log(errorText(error) + (error.detail ? `\n${error.detail}` : ''));
    toStandardError(errorText(error));
  }

  follow(session: OpenRun): void {
    if (!Number.isFinite(this.intervalMs)) return;
    this.timer = setInterval(() => {
      this.line(totalLine(session.progress()));
      if (this.verbose) for (const device of session.deviceStates()) this.line(`  ${deviceLine(device)}`);
    }, this.intervalMs);
  }

  end(): void {
    clearInterval(this.timer);
  }
}

/** A live table on a terminal: a row per device, the total, the time left. Notes scroll by above it. */
class TableReporter implements Reporter {
  private readonly log: (line: string) => void;
  private readonly screen = createLogUpdate(process.stderr);
  private timer: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.log = log;
  }

  line(text: string): void {
    this.log(text);
    this.screen.clear();
    toStandardError(text);
  }

  note(note: RunNote): void {
    this.line(note.message);
  }

  state(state: RunState): void {
    this.log(`run is ${state.phase}`);
  }

  error(error: AppError): void {
    this.line(errorText(error));
  }

  follow(session: OpenRun): void {
    const draw = (): void => {
      const progress = session.progress();
      const devices = session.deviceStates().map(deviceLine);
      const total = `${bar(progress.fraction ?? 0)} ${totalLine(progress)}`;
      this.screen([...devices, total].join('\n'));
    };
    this.timer = setInterval(draw, TABLE_INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.timer);
    this.screen.clear();
    this.screen.done();
  }
}

/** Events as JSON lines on standard output, for programs. */
class JsonReporter implements Reporter {
  private readonly log: (line: string) => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.log = log;
  }

  line(text: string): void {
    this.write({ type: 'message', text });
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
      this.write({ type: 'progress', progress: session.progress(), devices: session.deviceStates() });
    };
    this.timer = setInterval(tell, 1000);
  }

  end(): void {
    clearInterval(this.timer);
  }

  private write(event: object): void {
    const line = JSON.stringify(event);
    this.log(line);
    process.stdout.write(`${line}\n`);
  }
}
