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
