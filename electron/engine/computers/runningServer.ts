/** The server that goes on without a terminal: one per user and computer, found again by a file that only the user may read. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../contract/parseJson.ts';
import { replaceFile } from '../files/replaceFile.ts';
import { isProcessAlive, processStart } from '../system/liveProcess.ts';

export const runningServerSchema = z.object({
  /** On the loopback interface. */
  port: z.int().min(1).max(65_535),
  pid: z.int().positive(),
  /** See processStart: another process may have got its number. */
  start: z.string().nullable(),
  version: z.string(),
  hostName: z.string(),
  /** Folder of the program that it runs. */
  program: z.string(),
  /** Lets whoever knows it in, as the user. */
  cookie: z.string(),
});
export type RunningServer = z.infer<typeof runningServerSchema>;

const UNUSED_MS = 24 * 60 * 60_000;

/** A home folder may be shared by many computers, as in a cluster. */
export function serverFile(dataDir: string): string {
  return join(dataDir, 'servers', `${hostname()}.json`);
}

export function writeServerFile(dataDir: string, server: RunningServer): void {
  const file = serverFile(dataDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(server), { mode: 0o600 });
  replaceFile(`${file}.${process.pid}`, file);
}

/** The one that runs on this computer; undefined where none does. */
export function readServerFile(dataDir: string): RunningServer | undefined {
  const server = parsed(serverFile(dataDir));
  if (!server || !isProcessAlive(server.pid)) return undefined;
  const start = processStart(server.pid);
  return start === null || server.start === null || start === server.start ? server : undefined;
}

/** Only where it is this process's own. */
export function removeServerFile(dataDir: string): void {
  const file = serverFile(dataDir);
  if (parsed(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** Deletes what was installed beside a program over SSH, is older than a day, and is run by no server that is known. */
export function removeOldPrograms(program: string, dataDir: string): void {
  const parent = dirname(program);
  if (basename(parent) !== 'virnucpro-server') return;
  const used = new Set([program, ...servers(dataDir).map((server) => server.program)]);
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (!used.has(path) && Date.now() - changed > UNUSED_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** On any computer that shares the folder. */
function servers(dataDir: string): RunningServer[] {
  const folder = dirname(serverFile(dataDir));
  return readdirSync(folder).flatMap((name) => parsed(join(folder, name)) ?? []);
}

function parsed(file: string): RunningServer | undefined {
  try {
    return parseJson(runningServerSchema, readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
