import { execa } from 'execa';
import { appError } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { inspectedFileSchema, type InspectedFile } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { describeExit } from '../workers/describeExit.ts';

/** Reads files to their end and tells what they hold, one after the other, in the order given. */
export async function inspectInputs(
  { environment }: { environment: PythonEnvironment },
  paths: readonly string[],
  chunkLength: number,
  onFile: (file: InspectedFile) => void,
  signal?: AbortSignal,
): Promise<Result<void>> {
  const launch = pythonLaunch(environment, 'virnucpro_backend.prepare.inspect', [
    '--chunk-length',
    String(chunkLength),
  ]);
  const subprocess = execa(launch.file, launch.args, {
    env: launch.env,
    extendEnv: false,
    // Not as arguments: a folder of genomes holds more paths than a command line may.
    input: paths.map((path) => `${JSON.stringify(path)}\n`).join(''),
    reject: false,
    windowsHide: true,
    buffer: { stdout: false, stderr: true },
    ...(signal ? { cancelSignal: signal } : {}),
  });
  let files = 0;
  try {
    for await (const line of subprocess.iterable({ from: 'stdout' })) {
      const file = parseJson(inspectedFileSchema, line);
      if (file === undefined) throw new Error(`it answered ${line}`);
      onFile(file);
      files += 1;
    }
  } catch (reason) {
    if (!signal?.aborted && files < paths.length) {
      subprocess.kill();
      await subprocess;
      return err(appError('internal', `Looking into the files failed: ${String(reason)}`));
    }
  }
  const result = await subprocess;
  if (signal?.aborted || files === paths.length) return ok(undefined);
  const lastLines = result.stderr.split('\n').slice(-20);
  return err(
    appError(
      'python_broken',
      `Looking into the files stopped: ${describeExit({ code: result.exitCode, signal: result.signal, lastLines })}.`,
      { detail: lastLines.join('\n') },
    ),
  );
}
