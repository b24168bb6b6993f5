import { existsSync } from 'node:fs';
import { homedir, hostname, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { AppFailure, appError } from '../../contract/errors.ts';
import { engineBase } from '../../engine/engineBase.ts';
import { resolveAppPaths } from '../../engine/environment/index.ts';
import { openService } from '../../engine/service/index.ts';
import { startServer } from '../../server/startServer.ts';
import { EXIT } from '../exitCodes.ts';
import { appVersion, unwrap } from '../openEngine.ts';

export interface ServeFlags {
  python?: string;
  port: number;
  host: string;
  root?: string;
  allowNetwork?: boolean;
}

export const DEFAULT_PORT = 4170;

/** Browser mode: the desktop app's window for computers without a screen. Ends with Ctrl-C, which pauses what is at work. */
export async function serve(flags: ServeFlags, storeHost: URL): Promise<number> {
  const paths = unwrap(resolveAppPaths({ startFolder: import.meta.dirname }));
  const pageFolder = join(paths.root, 'dist', 'renderer');
  if (!existsSync(join(pageFolder, 'index.html'))) {
    throw new AppFailure(
      appError('internal', `The window has not been built: there is no ${pageFolder}.`, {
        nextStep: 'Build it with "npm run build:renderer", then start again.',
      }),
    );
  }
  const root = resolve(flags.root ?? homedir());
  if (!existsSync(root)) throw new AppFailure(appError('usage', `There is no folder ${root}.`));
  const say = (line: string): void => void process.stdout.write(`${line}\n`);

  const service = await openService(engineBase({ appVersion: appVersion(paths.root), paths, storeHost }), {
    interpreter: flags.python ?? (process.env['VIRNUCPRO_PYTHON'] || undefined),
    resultsFolder: join(root, 'VirNucPro results'),
  });
  const server = await startServer(service, {
    host: flags.host,
    port: flags.port,
    root,
    pageFolder,
    allowNetwork: flags.allowNetwork === true,
    onNewAddress: (address) => {
      say(`A browser has been let in. For another one: ${address}`);
    },
  });
  say(`VirNucPro Desktop is ready: ${server.address()}`);
  say(
    `From another computer, first: ssh -L ${server.port}:127.0.0.1:${server.port} ${userInfo().username}@${hostname()}`,
  );
  say(`The page shows files below ${root} (another folder with --root). Stop with Ctrl-C.`);

  const signal = await nextSignal();
  const atWork = service.control.queue.active !== null;
  say(
    atWork
      ? 'Stopping after the batches in work. What is computed is kept. (Again to quit at once.)'
      : 'Stopping.',
  );
  quitOnNextSignal();
  await server.close();
  await service.close();
  if (!atWork) return EXIT.done;
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
}

type StopSignal = 'SIGINT' | 'SIGTERM';
const STOP_SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];

function nextSignal(): Promise<StopSignal> {
  return new Promise((done) => {
    for (const signal of STOP_SIGNALS) process.once(signal, done);
  });
}

function quitOnNextSignal(): void {
  for (const signal of STOP_SIGNALS) {
    process.removeAllListeners(signal);
    process.once(signal, () => {
      process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
    });
  }
}
