import { expect, it } from 'vitest';
import { lookAtMachine, parseNvidiaSmi, type Machine, unsupportedMachine } from './machine.ts';
import { runCommand } from './runCommand.ts';
import { LINUX_MACHINE as LINUX } from './testing/machines.ts';

it('reads what nvidia-smi reports about each card', () => {
  expect(parseNvidiaSmi('580.65.06, 9.0, NVIDIA H200\n580.65.06, 7.0, Tesla V100-SXM2-16GB\n')).toEqual({
    driver: '580.65.06',
    cards: [
      { name: 'NVIDIA H200', capability: [9, 0] },
      { name: 'Tesla V100-SXM2-16GB', capability: [7, 0] },
    ],
  });
  expect(parseNvidiaSmi('NVIDIA-SMI has failed because it could not communicate')).toEqual({
    driver: null,
    cards: [],
  });
});

it('finds that the computer of the tests can compute', async () => {
  expect(unsupportedMachine(await lookAtMachine(runCommand, process.env))).toBeNull();
});

it.each<[string, Partial<Machine>, RegExp, RegExp]>([
  ['an Intel Mac', { platform: 'darwin', macosMajor: 15 }, /Intel processor/, /Apple chip/],
  ['an old macOS', { platform: 'darwin', arch: 'arm64', macosMajor: 13 }, /this is macOS 13/, /Update macOS/],
  ['Windows on ARM', { platform: 'win32', arch: 'arm64' }, /Windows with an ARM/, /another computer/],
  ['Alpine', { musl: true }, /this Linux has musl/, /Debian, Ubuntu/],
  ['a POWER server', { arch: 'ppc64' }, /ppc64/, /another computer/],
])('reports that %s cannot compute, and what to do', (_, facts, cause, nextStep) => {
  expect(unsupportedMachine({ ...LINUX, ...facts })).toMatchObject({
    code: 'computer_unsupported',
    cause: expect.stringMatching(cause) as string,
    nextStep: expect.stringMatching(nextStep) as string,
  });
});

it.each<[string, Partial<Machine>]>([
  ['Linux', {}],
  ['Linux on ARM', { arch: 'arm64' }],
  ['Windows', { platform: 'win32' }],
  ['a Mac', { platform: 'darwin', arch: 'arm64', macosMajor: 14 }],
])('accepts %s', (_, facts) => {
  expect(unsupportedMachine({ ...LINUX, ...facts })).toBeNull();
});
