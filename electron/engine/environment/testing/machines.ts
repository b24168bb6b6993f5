import type { Machine } from '../machine/machine.ts';

/** An ordinary Linux computer without a GPU. Made up. */
export const LINUX_MACHINE: Machine = {
  platform: 'linux',
  arch: 'x64',
  macosMajor: null,
  musl: false,
  nvidiaDriver: null,
  nvidia: [],
  amd: [],
};

/** As `process.env` is on Windows: names are found in whatever letters they are asked for, but not so in a copy. */
export function windowsEnvironment(variables: Record<string, string>): NodeJS.ProcessEnv {
  const nameOf = (asked: string | symbol): string | symbol =>
    Object.keys(variables).find((name) => name.toUpperCase() === String(asked).toUpperCase()) ?? asked;
  return new Proxy<NodeJS.ProcessEnv>(variables, {
    get: (target, asked) => Reflect.get(target, nameOf(asked)) as string | undefined,
    has: (target, asked) => Reflect.has(target, nameOf(asked)),
  });
}
