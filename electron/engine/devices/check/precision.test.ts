import { describe, expect, it } from 'vitest';
import type { ChosenDevice } from '../chosenDevice.ts';
import type { PrecisionCheck } from '../../../contract/rpc/computer.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import { temporaryFolder } from '../../testing/testContext.ts';
import { checkPrecision, keepPrecisions } from './precision.ts';

const HASH = 'a'.repeat(64);
const gpu = (name: string): ChosenDevice => ({
  kind: 'cuda',
  id: `GPU-${name}`,
  index: 0,
  name,
  capability: [9, 0],
  precisions: ['fp8', 'bf16', 'fp16', 'fp32'],
  memoryTotalBytes: 1,
  memoryFreeBytes: 1,
});

async function pathsWith(report?: PrecisionCheck): Promise<AppPaths> {
  const dataDir = await temporaryFolder();
  const paths = { dataDir } as AppPaths;
  if (report) await keepPrecisions(paths, HASH, report);
  return paths;
}

const report = (verdict: { offered: boolean; reason: string }): PrecisionCheck => ({
  checkedAt: '2026-11-28T12:00:00Z',
  deviceName: 'H200',
  frames: 9476,
  precisions: {
    fp8: {
      embeddings: { 'ESM-2': { cosine_p01: 0.99 } },
      scores: { flips: 486, flip_share: 0.05129, difference_max: 0.4 },
      verdict,
    },
  },
  not_possible: {},
});

describe('FP8', () => {
  it('is refused before it was checked, with the next step', async () => {
    const refused = await checkPrecision(await pathsWith(), HASH, 'fp8', [gpu('H200')]);
    expect(refused).toMatchObject({ ok: false, error: { code: 'precision_unsupported' } });
    expect(refused.ok ? '' : refused.error.nextStep).toContain('virnucpro check precision');
  });

  it('is refused with the measured reason if it did not pass', async () => {
    const paths = await pathsWith(report({ offered: false, reason: '5.129 % of the labels flip' }));
    const refused = await checkPrecision(paths, HASH, 'fp8', [gpu('H200')]);
    expect(refused.ok ? '' : refused.error.cause).toContain('5.129 %');
  });

  it('is accepted if it passed, only on the GPU it was checked on', async () => {
    const paths = await pathsWith(report({ offered: true, reason: '' }));
    expect((await checkPrecision(paths, HASH, 'fp8', [gpu('H200')])).ok).toBe(true);
    expect((await checkPrecision(paths, HASH, 'fp8', [gpu('H200'), gpu('L4')])).ok).toBe(false);
    expect((await checkPrecision(paths, 'b'.repeat(64), 'fp8', [gpu('H200')])).ok).toBe(false);
  });

  it('is the only precision that needs the check', async () => {
    expect((await checkPrecision(await pathsWith(), HASH, 'bf16', [gpu('H200')])).ok).toBe(true);
  });
});
