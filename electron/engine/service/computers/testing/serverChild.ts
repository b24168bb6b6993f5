/** Stands in for `virnucpro serve --for-ssh FILE`: `serverChild.ts PROGRAM serve --for-ssh FILE`. */
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [, , program = '', , , file = ''] = process.argv;
const server = createServer((_, response) => response.end('{"version":"1","atWork":false}'));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const record = { port, pid: process.pid, version: '1', hostName: 'here', program, cookie: '', uploads: '' };
  writeFileSync(`${file}.tmp`, JSON.stringify(record));
  renameSync(`${file}.tmp`, file);
});
