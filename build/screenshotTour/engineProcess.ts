import { join } from 'node:path';
import { execa } from 'execa';

export interface EngineProcess {
  /** Address with a token that opens one browser. */
  readonly address: string;
  /** As a power cut would: nothing is put away. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 60_000;
const ADDRESS = /ready: (\S+)/;

/** `virnucpro serve` with data of its own. */
export async function startEngine(
  root: string,
  folders: { data: string; files: string },
  port: number,
): Promise<EngineProcess> {
  const process_ = execa(
    process.execPath,
    [join(root, 'electron', 'cli', 'main.ts'), 'serve', '--port', String(port), '--root', folders.files],
    { env: { VIRNUCPRO_DATA_DIR: folders.data }, reject: false, buffer: false },
  );
  const address = await new Promise<string>((resolve, reject) => {
    const deadline = setTimeout(
      () => reject(new Error('The engine did not start in time')),
      START_DEADLINE_MS,
    );
    let said = '';
    const listen = (text: unknown) => {
      said += String(text);
      const found = ADDRESS.exec(said)?.[1];
      if (found === undefined) return;
      clearTimeout(deadline);
      resolve(found);
    };
    process_.stdout.on('data', listen);
    process_.stderr.on('data', listen);
    void process_.then(() => reject(new Error(`The engine ended at once:\n${said}`)));
  });
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    process_.kill(signal);
    await process_;
  };
  return { address, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}
