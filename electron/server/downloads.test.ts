import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Downloads } from './downloads.ts';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => void vi.useRealTimers());

async function fetched(downloads: Downloads, path: string): Promise<Response> {
  const server = createServer((request, response) => {
    void downloads.send((request.url ?? '').split('/')[2] ?? '', response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const body = await response.arrayBuffer();
  server.close();
  return new Response(body, { status: response.status, headers: response.headers });
}

describe('downloads', () => {
  it('give the file under its name, and only at the address that was handed out', async () => {
    const downloads = new Downloads(join(folder, 'exports'));
    const file = join(folder, 'März 1.tsv');
    writeFileSync(file, 'a\tb\n');
    const address = downloads.lend(file);
    const response = await fetched(downloads, address);
    expect(await response.text()).toBe('a\tb\n');
    expect(response.headers.get('content-disposition')).toContain(encodeURIComponent('März 1.tsv'));
    expect((await fetched(downloads, '/download/guessed/x')).status).toBe(404);
    await downloads.close();
    expect(existsSync(file)).toBe(true);
  });

  it('do not follow a link that replaced the file', async () => {
    const downloads = new Downloads(join(folder, 'exports'));
    writeFileSync(join(folder, 'secret'), 'secret');
    const file = join(folder, 'sequences.tsv');
    const address = downloads.lend(file);
    symlinkSync(join(folder, 'secret'), file);
    expect((await fetched(downloads, address)).status).toBe(404);
  });

  it('expire after an hour: an export is deleted, a file of a run stays', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const downloads = new Downloads(join(folder, 'exports'));
    const made = await downloads.place('export.tsv');
    writeFileSync(made, 'x');
    const ofRun = join(folder, 'sequences.tsv');
    writeFileSync(ofRun, 'x');
    const addresses = [downloads.offer(made), downloads.lend(ofRun)];
    vi.advanceTimersByTime(59 * 60_000);
    expect(existsSync(made)).toBe(true);
    vi.advanceTimersByTime(60_001);
    vi.useRealTimers();
    await expect.poll(() => existsSync(made)).toBe(false);
    expect(existsSync(ofRun)).toBe(true);
    for (const address of addresses) expect((await fetched(downloads, address)).status).toBe(404);
  });
});
