import { EventEmitter } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** A port of Electron's main process (api/message-port-main), which emits what Node's own takes as messages. */
class MainPort extends EventEmitter {
  readonly start: () => void;
  readonly close: () => void;
  readonly postMessage: (data: unknown) => void;

  constructor(port: MessagePort) {
    super();
    port.on('message', (data: unknown) => this.emit('message', { data }));
    port.on('close', () => this.emit('close'));
    this.start = port.start.bind(port);
    this.close = port.close.bind(port);
    this.postMessage = port.postMessage.bind(port);
  }
}

/** A stand-in for Electron's class: one port is the main process's, the other goes to a page. */
export class MessageChannelMain {
  readonly port1: MainPort;
  readonly port2: MessagePort;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port1 = new MainPort(port1);
    this.port2 = port2;
  }
}
