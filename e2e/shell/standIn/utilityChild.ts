/** What utilityProcess.ts starts: `node utilityChild.ts MODULE [ARGUMENTS]`. */
import { EventEmitter } from 'node:events';
import { pathToFileURL } from 'node:url';

const port = new EventEmitter();
const [, , module = ''] = process.argv;
Object.assign(process, {
  parentPort: Object.assign(port, { postMessage: (message: object) => process.send?.(message) }),
});
// As in Electron, messages wait until somebody listens.
port.on('newListener', (event) => {
  if (event !== 'message') return;
  process.on('message', (data) => port.emit('message', { data }));
});
await import(pathToFileURL(module).href);
