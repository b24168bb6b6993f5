/** One `pip install` or `pip download`: its progress as it goes, its failure in words. */
import { err, ok, type Result } from '../../../contract/result.ts';
import type { InstallProgress } from '../environmentState.ts';
import { installFailure } from './installFailure.ts';
import { scrubbedEnvironment } from '../pythonLaunch.ts';
import type { CommandRunner } from '../runCommand.ts';

interface PipRequest {
  readonly command?: 'install' | 'download';
  /** How pip is started where the interpreter doesn't have it: its folder. */
  readonly pipFolder?: string | undefined;
  readonly interpreter: string;
  readonly arguments: readonly string[];
  /** The first step may have a pip that doesn't know how to report progress. */
  readonly reportsProgress: boolean;
  /** Bytes to fetch, where they are known ahead. */
  readonly bytesAhead?: number | null;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: InstallProgress) => void;
}

export async function pipInstall(run: CommandRunner, request: PipRequest): Promise<Result<void>> {
  let doing = '';
  let unpacking = false;
  /** Of the files that are downloaded already, and of the one that is being downloaded. */
  let before = 0;
  let current = 0;
  const report = (total: number | null): void =>
    request.onProgress({
      line: doing,
      fraction: total !== null && total > 0 ? current / total : null,
      bytesDone: before + current,
      // What is left to do now takes no part in how long fetching takes.
      bytesTotal: unpacking ? null : (request.bytesAhead ?? null),
    });
  const outcome = await run({
    file: request.interpreter,
    args: [
      ...(request.pipFolder === undefined ? ['-m', 'pip'] : [request.pipFolder]),
      request.command ?? 'install',
      '--disable-pip-version-check',
      '--no-input',
      `--progress-bar=${request.reportsProgress ? 'raw' : 'off'}`,
      ...request.arguments,
    ],
    env: scrubbedEnvironment(request.env),
    signal: request.signal,
    onLine: (line) => {
      const bytes = /^Progress (\d+) of (\d+)$/.exec(line);
      if (bytes) {
        current = Number(bytes[1]);
        report(Number(bytes[2]));
        return;
      }
      if (NO_NEWS.test(line)) return;
      unpacking = line.startsWith('Installing collected packages');
      doing = unpacking ? UNPACKING : withoutPath(line);
      before += current;
      current = 0;
      report(null);
    },
  });
  return outcome.ending === 'succeeded' ? ok(undefined) : err(installFailure(outcome));
}

/** Its last and long step, of which pip says nothing more. */
const UNPACKING = 'Unpacking what was fetched';

/** Lines that pip writes by the hundred, or about its own work, and that tell a user nothing. */
const NO_NEWS =
  /^(Requirement already satisfied|Looking in|Ignoring|WARNING|\[notice\]|Attempting uninstall|Found existing installation|Uninstalling|Successfully (un)?installed)/;

/** "Downloading https://.../torch.whl (5 MB)" and "Processing /.../torch.whl (from ...)" without where from. */
function withoutPath(line: string): string {
  return line
    .replace(/(?:https?|file):\/\/\S*\//, '')
    .replace(/^(Processing|Using cached) \S*[\\/]/, '$1 ')
    .replace(/ \(from .*$/, '');
}
