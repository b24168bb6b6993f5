import { app, type BrowserWindow } from 'electron';
import { createRouterClient } from '@orpc/server';
import { AppFailure, appFailure } from '../contract/errors.ts';
import { serviceRouter, type Service, type ShellLog, type WindowContext } from '../engine/index.ts';

/** The program proves that it works on this computer, prints a line a point, and exits with 0 or 1. */
export const SELF_CHECK_SWITCH = '--self-check';
/** With it, the self-check sets Python up first where it is missing, so that the example can be computed. */
const SET_UP_SWITCH = '--set-up';

const LOOK_EVERY_MS = 100;

interface Checked {
  service: Service;
  window: BrowserWindow;
  log: ShellLog;
}

/** Each returns what it found, in a few words, and throws if it does not hold. */
const POINTS: { what: string; withinMinutes: number; check: (checked: Checked) => Promise<string> }[] = [
  {
    what: 'The window is painted and has the answers of the engine',
    withinMinutes: 1,
    check: async ({ window }) => {
      // The page shows its navigation only once it has the engine's answers.
      const code = "document.querySelector('nav a') !== null";
      const isThere = () => window.webContents.executeJavaScript(code, true).catch(() => false);
      while (!window.isVisible() || (await isThere()) !== true)
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      return 'yes';
    },
  },
  {
    what: 'Python is set up',
    withinMinutes: 40,
    check: async ({ service }) => {
      if ((await service.pythonEnvironment.environment()).ok) return 'yes';
      if (!process.argv.includes(SET_UP_SWITCH)) throw new Error(`not yet; ${SET_UP_SWITCH} does it here`);
      const { computer } = clientOf(service);
      await computer.setUpPython();
      for await (const status of await computer.environment()) {
        if ('error' in status) throw new AppFailure(status.error);
        if (status.state === 'ready') return `Python ${status.pythonVersion}`;
      }
      throw new Error('the set-up ended without an answer');
    },
  },
  {
    what: 'The devices are found',
    withinMinutes: 5,
    check: async ({ service }) => {
      const { cpu, gpus, no_gpu_code } = await clientOf(service).computer.devices();
      const names = gpus.length > 0 ? gpus.map(({ name }) => name) : [`no GPU (${no_gpu_code})`];
      return [cpu.name, ...names].join(', ');
    },
  },
  {
    what: 'The example is computed, and answers a query',
    withinMinutes: 10,
    check: async ({ service }) => {
      const { results, runs } = clientOf(service);
      const { runId } = await runs.runExample();
      for await (const { run } of await runs.watch({ runId })) {
        if (run.state.phase === 'done') break;
        if ('error' in run.state && run.state.error) throw new AppFailure(run.state.error);
      }
      const { rows } = await results.query({ runId, sql: 'SELECT count(*) > 0 FROM chunks' });
      if (rows[0]?.[0] !== true) throw appFailure('internal', 'A query was not answered.');
      return 'yes';
    },
  },
];

export async function selfCheck(checked: Checked): Promise<void> {
  const { service, log } = checked;
  let failed = 0;
  for (const [index, { what, withinMinutes, check }] of POINTS.entries()) {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error(`no answer in ${withinMinutes} min`));
      timer = setTimeout(fail, withinMinutes * 60_000);
    });
    const [verdict, words] = await Promise.race([check(checked), late]).then(
      (finding) => ['ok', finding] as const,
      (reason: unknown) => ['FAIL', wordsOf(reason)] as const,
    );
    clearTimeout(timer);
    if (verdict === 'FAIL') failed += 1;
    const line = `${verdict.padEnd(4)} ${index + 1} ${what}: ${words}`;
    log.write(verdict === 'FAIL' ? 'error' : 'info', `Self-check: ${line}`);
    process.stdout.write(`${line}\n`);
  }
  process.stdout.write(
    failed === 0
      ? 'Everything holds.\n'
      : `${failed} of ${POINTS.length} points do not hold. Log: ${log.file}\n`,
  );
  await service.close().catch(() => undefined);
  app.exit(failed === 0 ? 0 : 1);
}

/** A client as a page has it, without a window. */
function clientOf(service: Service) {
  const window = { shell: 'electron', paths: { root: null, allows: () => false }, desktop: {} };
  return createRouterClient(serviceRouter(service), {
    context: { window: window as unknown as WindowContext },
  });
}

function wordsOf(reason: unknown): string {
  if (reason instanceof AppFailure) return `${reason.error.title}. ${reason.error.cause}`;
  return reason instanceof Error ? reason.message : String(reason);
}
