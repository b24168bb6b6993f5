/**
 * The server that continues without a terminal: there is one for each user and computer, found by a file that
 * only the user may read.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../contract/parseJson.ts';
import { replaceFile } from '../files/replaceFile.ts';
import { isProcessAlive, processStart } from '../system/liveProcess.ts';

export const runningServerSchema = z.object({
  /** The port on the loopback interface. */
  port: z.int().min(1).max(65_535),
  pid: z.int().positive(),
  /** See processStart: another process may have the same number by now. */
  start: z.string().nullable(),
  version: z.string(),
  hostName: z.string(),
  /** The folder of the program that it runs. */
  program: z.string(),
  /** Anyone who knows the cookie is admitted as the user. */
  cookie: z.string(),
});
export type RunningServer = z.infer<typeof runningServerSchema>;

/** The name contains the host because many computers may share a home folder, as in a cluster. */
export function serverFile(dataDir: string): string {
  return join(dataDir, 'servers', `${hostname()}.json`);
}

export function writeServerFile(dataDir: string, server: RunningServer): void {
  const file = serverFile(dataDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(server), { mode: 0o600 });
  replaceFile(`${file}.${process.pid}`, file);
}

/** The server that runs on this computer; undefined if there is none. */
export function readServerFile(dataDir: string): RunningServer | undefined {
  const server = parsed(serverFile(dataDir));
  if (!server || !isProcessAlive(server.pid)) return undefined;
  const start = processStart(server.pid);
  return start === null || server.start === null || start === server.start ? server : undefined;
}

/** Removes the file only if it belongs to this process. */
export function removeServerFile(dataDir: string): void {
  const file = serverFile(dataDir);
  if (parsed(file)?.pid === process.pid) rmSync(file, { force: true });
}

function parsed(file: string): RunningServer | undefined {
  try {
    return parseJson(runningServerSchema, readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
