import {
  checkDevicesOnce,
  computerChecks,
  diagnosticsText,
  freeBytes,
  listModels,
  networkVariables,
  probeDevices,
  readSetupSettings,
  resolveAppPaths,
  setUp,
  stepLines,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { ok, unwrap } from '../../../contract/result.ts';
import { appVersion } from '../../openEngine.ts';
import type { CommonFlags } from '../../commonFlags.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';

const MARKS = { good: 'ok  ', warning: 'note', bad: 'BAD ', checking: '... ', waiting: '... ' } as const;

/**
 * Checks this computer part by part and explains each result, or prints everything for a support request.
 * Works without Python.
 */
export async function doctor(
  { python: interpreter, json, quiet }: Pick<CommonFlags, 'python' | 'json' | 'quiet'>,
  { repair, diagnostics }: { repair: boolean; diagnostics: boolean },
): Promise<number> {
  const paths = unwrap(resolveAppPaths({ startFolder: import.meta.dirname }));
  const setup = readSetupSettings(paths.usualDataDir);
  const ready = await setUp({
    paths,
    interpreter: interpreter ?? (process.env['VIRNUCPRO_PYTHON'] || setup.interpreter) ?? undefined,
    env: networkVariables(setup),
    repair,
    ...(quiet === true ? {} : { onProgress: stepLines(toStandardError) }),
  });
  const environment = ready.ok ? ok(ready.value.environment) : ready;
  const probe = environment.ok ? await probeDevices(environment.value) : null;
  const checks = computerChecks({
    environment,
    probe,
    models: ok(await listModels(paths)),
    diskFreeBytes: await freeBytes(paths.dataDir),
    devices:
      environment.ok && probe?.ok ? await checkDevicesOnce(paths, environment.value, probe.value) : null,
  });
  const exitCode = checks.some(({ status }) => status === 'bad') ? EXIT.failed : EXIT.done;
  if (diagnostics) {
    const facts = { appVersion: appVersion(paths.root), shell: 'terminal', dataDir: paths.dataDir };
    const found = {
      environment: environment.ok ? environment.value : null,
      probe: probe?.ok ? probe.value : null,
      checks,
    };
    toStandardOutput(diagnosticsText({ ...facts, ...found, runs: [], shellLog: [] }).trimEnd());
    return exitCode;
  }
  const lines = checks.map(
    ({ status, title, sentence }) => `${MARKS[status]}  ${title.padEnd(18)}  ${sentence}`,
  );
  toStandardOutput(json === true ? JSON.stringify(checks) : lines.join('\n'));
  return exitCode;
}
