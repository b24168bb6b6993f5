/** One `uv pip install`: its progress as it goes, its failure in words. */
import { err, ok, type Result } from '../../../contract/result.ts';
import type { InstallProgress } from '../environmentState.ts';
import { installFailure } from './installFailure.ts';
import type { CommandRunner } from '../runCommand.ts';

interface UvInstallRequest {
  readonly uv: string;
  readonly interpreter: string;
  readonly arguments: readonly string[];
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes to fetch, where they are known ahead. */
  readonly bytesAhead: number | null;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: InstallProgress) => void;
}

export async function uvInstall(run: CommandRunner, request: UvInstallRequest): Promise<Result<void>> {
  const report = downloadReport(request.bytesAhead, request.onProgress);
  const outcome = await run({
    file: request.uv,
    // Nothing is written beside the packages later, and compiling PyTorch's sources takes seconds at every start of a worker.
    args: ['pip', 'install', '--compile-bytecode', '--python', request.interpreter, ...request.arguments],
    env: request.env,
    signal: request.signal,
    onLine: report,
  });
  return outcome.ending === 'succeeded' ? ok(undefined) : err(installFailure(outcome));
}

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** uv names each large file when it begins to fetch it, with its size, and again when it is there. */
function downloadReport(
  bytesAhead: number | null,
  onProgress: (progress: InstallProgress) => void,
): (line: string) => void {
  const sizes = new Map<string, number>();
  const under = new Set<string>();
  let done = 0;
  return (line) => {
    const begun = /^Downloading (\S+) \(([\d.]+)\s?([KMG]?i?B)\)/.exec(line);
    const ended = /^(?:Downloaded|Built) (\S+)/.exec(line);
    if (begun) {
      const [, name = '', size, unit = 'B'] = begun;
      sizes.set(name, Number(size) * (UNITS[unit] ?? 1));
      under.add(name);
    } else if (ended?.[1] !== undefined) {
      if (under.delete(ended[1])) done += sizes.get(ended[1]) ?? 0;
    } else if (!/^(Prepared|Installed|Resolved)/.test(line)) {
      return;
    }
    const announced = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const total = Math.max(bytesAhead ?? 0, announced);
    const bytesDone = Math.round(done);
    onProgress({
      line: under.size > 0 ? `Downloading ${[...under].join(', ')}` : line,
      fraction: total > 0 ? Math.min(1, done / total) : null,
      bytesDone,
      bytesTotal: total > 0 ? Math.round(total) : null,
    });
  };
}
