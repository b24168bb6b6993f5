/** A client of Chromium's DevTools protocol, with as much as the stand-in needs. */
import { EventEmitter } from 'node:events';
import { WebSocket } from 'ws';

/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access --
   the protocol's messages are checked by Chromium and used in one place each */
export type Params = Record<string, any>;

export class DevTools {
  readonly endpoint: string;
  private readonly socket: WebSocket;
  private readonly pending = new Map<
    number,
    { resolve: (result: Params) => void; reject: (reason: Error) => void; method: string }
  >();
  private readonly sessions = new Map<string, DevToolsSession>();
  private lastId = 0;

  private constructor(endpoint: string, socket: WebSocket) {
    this.endpoint = endpoint;
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.take(JSON.parse(data.toString('utf8')) as Params);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const { reject, method } of this.pending.values())
        reject(new Error(`${method}: Chromium is gone`));
      this.pending.clear();
    });
  }

  static connect(endpoint: string): Promise<DevTools> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(endpoint, { maxPayload: 256 * 1024 ** 2 });
      socket.once('open', () => resolve(new DevTools(endpoint, socket)));
      socket.once('error', reject);
    });
  }

  send(method: string, params: Params = {}, sessionId?: string): Promise<Params> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject, method });
      this.socket.send(JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) }));
    });
  }

  async attach(targetId: string): Promise<DevToolsSession> {
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const session = new DevToolsSession(this, sessionId as string);
    this.sessions.set(session.id, session);
    return session;
  }

  private take(message: Params): void {
    const call = this.pending.get(message['id'] as number);
    if (call) {
      this.pending.delete(message['id'] as number);
      if (message['error']) call.reject(new Error(`${call.method}: ${String(message['error'].message)}`));
      else call.resolve(message['result'] as Params);
    } else if (typeof message['method'] === 'string') {
      this.sessions
        .get(message['sessionId'] as string)
        ?.emit(message['method'], (message['params'] ?? {}) as Params);
    }
  }
}

export class DevToolsSession extends EventEmitter<Record<string, [Params]>> {
  readonly id: string;
  private readonly devtools: DevTools;

  constructor(devtools: DevTools, id: string) {
    super();
    this.devtools = devtools;
    this.id = id;
  }

  send(method: string, params: Params = {}): Promise<Params> {
    return this.devtools.send(method, params, this.id);
  }
}
