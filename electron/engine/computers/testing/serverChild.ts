/** Stands in for `serve --for-ssh`: `serverChild.ts DATA_DIR PROGRAM`, whose run is active if PROGRAM is "busy". */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { becomeServer, writeServerFile } from '../detachedServer.ts';

const [, , dataDir = '', program = ''] = process.argv;
const cease = await becomeServer(dataDir);
const server = createServer((_, response) => response.end(JSON.stringify({ atWork: program === 'busy' })));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  writeServerFile(dataDir, {
    ...{ port, pid: process.pid, version: '1', hostName: 'here' },
    program,
    ...{ cookie: '', uploads: '' },
  });
});
process.on('SIGTERM', () => {
  cease();
  process.exit();
});
