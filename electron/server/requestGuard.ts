import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { appError } from '../contract/errors.ts';
import { message } from '../contract/messages.ts';
import { isInside, type PathPolicy, realPath } from '../engine/index.ts';

/** The headers of a request that show where it comes from. */
interface RequestOrigin {
  host: string | undefined;
  origin: string | undefined;
}

export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Whether the host means all addresses of this computer, a name that no browser uses. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The names, besides the loopback ones, by which browsers may call a server that listens there. */
export function ownNames(host: string, publicName: string | undefined): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((of) =>
    (of ?? []).map(({ address }) => address),
  );
  const bound = isAnyAddress(host) ? [hostname(), ...addresses] : [host];
  return [...bound, ...(publicName === undefined ? [] : [publicName])].map((name) => name.toLowerCase());
}

/**
 * Whether the Host header names this server. A page of another site that makes its name point to 127.0.0.1
 * (DNS rebinding) still sends its own name. Any port is accepted: an SSH tunnel has its own.
 */
export function isOurHost(host: string | undefined, ownNames: readonly string[]): boolean {
  const name = hostName(host);
  return name !== undefined && (isLoopbackName(name) || ownNames.includes(name));
}

/** Whether a request that changes something, or opens a socket, comes from a page of this server. */
export function isOurOrigin({ host, origin }: RequestOrigin): boolean {
  if (host === undefined || origin === undefined) return false;
  return origin === `http://${host}` || origin === `https://${host}`;
}

function hostName(host: string | undefined): string | undefined {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  try {
    return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  } catch {
    return undefined;
  }
}

/**
 * Whether the browser runs on the server's computer, as far as can be determined: through an SSH tunnel a
 * request also comes from this computer, but then the server was usually started over SSH.
 */
export function isSameComputer(remoteAddress: string | undefined, env: NodeJS.ProcessEnv): boolean {
  const isRemoteShell = env['SSH_CONNECTION'] !== undefined || env['SSH_TTY'] !== undefined;
  return !isRemoteShell && isLoopbackName(remoteAddress?.replace(/^::ffff:/, '') ?? '');
}

/**
 * A window in a browser may name only paths below the root that the server was started with, with links
 * resolved.
 */
export async function rootPolicy(root: string): Promise<PathPolicy> {
  const realRoot = await realPath(root);
  return {
    root: realRoot,
    allows: async (path) => isInside(realRoot, await realPath(path)),
    refusal: (path) => appError('input_unreadable', message('start.outside_root', { path, root: realRoot })),
  };
}
