/** MessageChannelMain and MessagePortMain (api/message-port-main). */
import { EventEmitter } from 'node:events';

/** The other end of a port: another port, or a page to which it was sent. */
export interface FarEnd {
  receive: (data: unknown) => void;
  disconnected: () => void;
}

export class MessagePortMain extends EventEmitter implements FarEnd {
  private far: FarEnd | undefined;
  private started = false;
  private closed = false;
  private readonly waiting: unknown[] = [];

  /** Not part of Electron: joins this port to its other end, again when that is sent to a page. */
  join(far: FarEnd): void {
    this.far = far;
  }

  get farEnd(): FarEnd | undefined {
    return this.far;
  }

  postMessage(data: unknown): void {
    if (!this.closed) this.far?.receive(data);
  }

  /** "Starts the sending of messages queued on the port. Messages will be queued until this method is called." */
  start(): void {
    this.started = true;
    for (const data of this.waiting.splice(0)) this.emit('message', { data, ports: [] });
  }

  /** "Disconnects the port, so it is no longer active." */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.far?.disconnected();
  }

  receive(data: unknown): void {
    if (this.closed) return;
    if (this.started) this.emit('message', { data, ports: [] });
    else this.waiting.push(data);
  }

  /** "Emitted when the remote end of a MessagePortMain object becomes disconnected." */
  disconnected(): void {
    if (this.closed) return;
    this.closed = true;
    this.emit('close');
  }
}

export class MessageChannelMain {
  readonly port1 = new MessagePortMain();
  readonly port2 = new MessagePortMain();

  constructor() {
    this.port1.join(this.port2);
    this.port2.join(this.port1);
  }
}
