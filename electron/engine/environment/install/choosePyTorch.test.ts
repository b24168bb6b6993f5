import { describe, expect, it } from 'vitest';
import { cardBlock, choosePyTorch } from './choosePyTorch.ts';
import type { Machine, NvidiaCard } from '../machine.ts';
import { LINUX_MACHINE as LINUX } from '../testing/machines.ts';

const ARM = { ...LINUX, arch: 'arm64' };
const WINDOWS: Machine = { ...LINUX, platform: 'win32' };
const MAC: Machine = { ...LINUX, platform: 'darwin', arch: 'arm64', macosMajor: 15 };

const card = (name: string, major: number, minor: number): NvidiaCard => ({
  name,
  capability: [major, minor],
});
const GTX_980 = card('GTX 980', 5, 2);
const GTX_1080 = card('GTX 1080', 6, 1);
const V100 = card('V100', 7, 0);
const RTX_2080 = card('RTX 2080', 7, 5);
const A100 = card('A100', 8, 0);
const RTX_4090 = card('RTX 4090', 8, 9);
const H200 = card('H200', 9, 0);
const B200 = card('B200', 10, 0);
const RTX_5090 = card('RTX 5090', 12, 0);
const THOR = card('Thor', 11, 0);
const TO_COME = card('TO COME', 14, 0);

describe('choosePyTorch', () => {
  it.each<[string, Machine, string | null, NvidiaCard[], string, boolean, RegExp]>([
    ['Hopper, new driver', LINUX, '580.65.06', [H200], 'cu130', true, /CUDA 13\.0 for H200/],
    ['Turing, new driver', LINUX, '580.65.06', [RTX_2080], 'cu130', true, /RTX 2080/],
    ['Hopper, older driver', LINUX, '550.90', [H200], 'cu126', false, /driver 550/],
    ['Volta, new driver', LINUX, '580.65.06', [V100], 'cu126', false, /V100/],
    ['Pascal and Maxwell', LINUX, '580.65', [GTX_1080, GTX_980], 'cu126', false, /GTX 980/],
    ['Volta beside Hopper', LINUX, '580.65', [H200, V100], 'cu126', false, /H200, V100/],
    ['Volta beside two Blackwell', LINUX, '580.65', [V100, B200, B200], 'cu130', true, /V100 can't be used/],
    [
      'Pascal for the screen beside Hopper',
      LINUX,
      '580.65',
      [GTX_1080, H200],
      'cu130',
      true,
      /GTX 1080 can't/,
    ],
    ['Blackwell, older driver', LINUX, '570.10', [RTX_5090], 'cpu', false, /RTX 5090.*newer driver/],
    ['a card to come', LINUX, '700.1', [TO_COME], 'cu130', true, /TO COME/],
    ['a card to come on Windows', WINDOWS, '700.1', [TO_COME], 'cpu', true, /processor/],
    ['a driver that lists no cards', LINUX, '580.65', [], 'cu130', true, /driver 580/],
    ['a very old driver', LINUX, '470.82', [A100], 'cpu', false, /470\.82 is too old; with 525/],
    ['Windows', WINDOWS, '581.29', [RTX_4090], 'cu130', false, /RTX 4090/],
    ['Windows, older driver', WINDOWS, '546.1', [RTX_4090], 'cu126', false, /546/],
    ['Windows without NVIDIA', WINDOWS, null, [], 'cpu', true, /processor/],
    ['Linux without NVIDIA', LINUX, null, [], 'cpu', false, /processor/],
    ['Linux on ARM, Hopper', ARM, '580.65', [H200], 'cu130', true, /H200/],
    ['Linux on ARM, Thor', ARM, '580.65', [THOR], 'cu130', true, /Thor/],
    ['Linux on ARM, Turing', ARM, '580.65', [RTX_2080], 'cpu', false, /RTX 2080/],
    ['a Mac', MAC, null, [], 'mps', true, /Mac/],
  ])('%s', (_, system, nvidiaDriver, nvidia, build, isOrdinary, reason) => {
    expect(choosePyTorch({ ...system, nvidiaDriver, nvidia })).toEqual({
      build,
      isOrdinary,
      reason: expect.stringMatching(reason) as string,
    });
  });
});

it.each<[string, NvidiaCard, string | null, string | null]>([
  ['13.0', V100, '13.0', 'architecture'],
  ['13.0', RTX_2080, '13.1', null],
  ['13.0', H200, '12.4', 'driver'],
  ['13.0', H200, null, null],
  ['12.6', H200, '12.4', null],
  ['12.6', RTX_5090, '13.0', 'architecture'],
  ['99.0', V100, '13.0', null],
])('CUDA %s on %o with a driver that supports CUDA %s: %s', (cuda, { capability }, driversCuda, expected) => {
  expect(cardBlock(cuda, capability, driversCuda, LINUX)).toBe(expected);
});
