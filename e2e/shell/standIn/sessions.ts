/** Sessions and the schemes they serve (api/session, api/protocol). */
import { EventEmitter } from 'node:events';
import { app } from './app.ts';

type Handler = (request: Request) => Promise<Response> | Response;
type Check = (contents: unknown, permission: string, origin: string) => boolean;

const privileged = new Set<string>();

class Protocol {
  private readonly handlers = new Map<string, Handler>();

  handle(scheme: string, handler: Handler): void {
    if (!privileged.has(scheme)) throw new Error(`${scheme} was not registered as a privileged scheme`);
    this.handlers.set(scheme, handler);
  }

  handlerOf(scheme: string): Handler | undefined {
    return this.handlers.get(scheme);
  }
}

export class Session extends EventEmitter {
  readonly protocol = new Protocol();
  private check: Check = () => true;

  /**
   * Chromium calls this for requests of pages. The permission check decides the same way, so Chromium gets
   * the check's answer.
   */
  setPermissionRequestHandler(): void {
    // See `allows`.
  }
  setPermissionCheckHandler(check: Check): void {
    this.check = check;
  }
  setDevicePermissionHandler(): void {
    // Headless Chromium has no devices to choose from.
  }
  setDisplayMediaRequestHandler(): void {
    // Headless Chromium has no screen to capture.
  }

  setProxy = () => Promise.resolve();

  allows(permission: string, origin: string): boolean {
    return this.check(null, permission, origin);
  }
}

let defaultSession: Session | undefined;
const partitions = new Map<string, Session>();

export const session = {
  /** Created at the first access; "session-created: emitted when Electron has created a new session". */
  get defaultSession(): Session {
    if (!app.isReady()) throw new Error('Session can only be received when app is ready');
    if (!defaultSession) {
      defaultSession = new Session();
      app.emit('session-created', defaultSession);
    }
    return defaultSession;
  },
  /** "If there is no existing session with the same partition, a new session will be created". */
  fromPartition(name: string): Session {
    const known = partitions.get(name);
    if (known) return known;
    const made = new Session();
    partitions.set(name, made);
    app.emit('session-created', made);
    return made;
  },
};

export const protocol = {
  /** "This method can only be used before the ready event of the app module gets emitted." */
  registerSchemesAsPrivileged(schemes: { scheme: string }[]): void {
    if (app.isReady())
      throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
    for (const { scheme } of schemes) privileged.add(scheme);
  },
};

/**
 * `app://virnucpro/x` in the app is `https://virnucpro.app.test/x` in Chromium, which accepts no schemes of
 * ours.
 */
const HIDDEN = /^https:\/\/([^/]*)\.([a-z]+)\.test(\/.*)?$/;

export function chromiumUrl(url: string): string {
  const [, scheme, host, rest] = /^([a-z]+):\/\/([^/]*)(.*)$/.exec(url) ?? [];
  return scheme !== undefined && privileged.has(scheme)
    ? `https://${host}.${scheme}.test${rest || '/'}`
    : url;
}

export function appUrl(url: string): string {
  const [, host, scheme, rest] = HIDDEN.exec(url) ?? [];
  return scheme !== undefined && privileged.has(scheme) ? `${scheme}://${host}${rest ?? '/'}` : url;
}
