import type { Machine } from '../machine.ts';

/** An invented ordinary Linux computer without a GPU. */
export const LINUX_MACHINE: Machine = {
  platform: 'linux',
  arch: 'x64',
  macosMajor: null,
  musl: false,
  nvidiaDriver: null,
  nvidia: [],
};

/** Like `process.env` on Windows: names are case-insensitive, but not in a copy. */
export function windowsEnvironment(variables: Record<string, string>): NodeJS.ProcessEnv {
  const nameOf = (asked: string | symbol): string | symbol =>
    Object.keys(variables).find((name) => name.toUpperCase() === String(asked).toUpperCase()) ?? asked;
  return new Proxy<NodeJS.ProcessEnv>(variables, {
    get: (target, asked) => Reflect.get(target, nameOf(asked)) as string | undefined,
    has: (target, asked) => Reflect.has(target, nameOf(asked)),
  });
}
