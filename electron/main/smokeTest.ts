import { createRouterClient } from '@orpc/server';
import { app, type BrowserWindow } from 'electron';
import { AppFailure, appFailure } from '../contract/errors.ts';
import { serviceRouter, type Service, type ShellLog, type WindowContext } from '../engine/index.ts';

/** `--smoke-test` checks a built package, whose fuses prevent other tools from controlling it. */
export const SMOKE_TEST_SWITCH = '--smoke-test';

const PAGE_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 200;

/**
 * Checks that the window shows the engine's answers, Python is set up, and the example gives the expected
 * scores. Prints this and exits with 0, else prints what failed and exits with 1.
 */
export async function smokeTest(service: Service, window: BrowserWindow, log: ShellLog): Promise<void> {
  const say = (line: string): void => {
    log.write('info', `Smoke test: ${line}`);
    process.stdout.write(`${line}\n`);
  };
  let exitCode = 1;
  try {
    await pageAnswered(window);
    say('The window is connected.');
    say(await exampleVerdict(service, say));
    exitCode = 0;
  } catch (reason) {
    say(
      `Failed: ${reason instanceof AppFailure ? `${reason.error.title}. ${reason.error.cause}` : String(reason)}`,
    );
  }
  await service.close().catch(() => undefined);
  app.exit(exitCode);
}

/** The page shows its navigation only once it has the engine's answers. */
async function pageAnswered(window: BrowserWindow): Promise<void> {
  const deadline = performance.now() + PAGE_WITHIN_MS;
  const look = "document.querySelector('nav a') !== null";
  for (;;) {
    const shown: unknown = await window.webContents.executeJavaScript(look).catch(() => false);
    if (shown === true) return;
    if (performance.now() > deadline) throw new Error('The page does not show itself.');
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function exampleVerdict(service: Service, say: (line: string) => void): Promise<string> {
  const window = { shell: 'electron', paths: { root: null, allows: () => false }, desktop: {} };
  const client = createRouterClient(serviceRouter(service), {
    context: { window: window as unknown as WindowContext },
  });
  if (!(await service.pythonEnvironment.environment()).ok) {
    await client.computer.setUpPython();
    for await (const status of await client.computer.environment()) {
      if ('error' in status) throw new AppFailure(status.error);
      if (status.state !== 'ready') continue;
      say(`Python is set up (${status.pythonVersion}).`);
      break;
    }
  }
  const { runId } = await client.runs.runExample();
  for await (const { run } of await client.runs.watch({ runId })) {
    if (run.state.phase === 'done') break;
    if ('error' in run.state && run.state.error) throw new AppFailure(run.state.error);
  }
  const { matches, message } = await client.runs.checkExample({ runId });
  if (!matches) throw appFailure('internal', message);
  const { rows } = await client.results.query({ runId, sql: 'SELECT count(*) > 0 FROM chunks' });
  if (rows[0]?.[0] !== true) throw appFailure('internal', 'A query was not answered.');
  say('A query is answered.');
  return message;
}
