import { describe, expect, it } from 'vitest';
import type { RunControls } from './checks.ts';
import { CONTROLS_FACT, controlsFacts, controlsOf, describeRunControls } from './checks.ts';

const works: RunControls = {
  checkedAt: '2026-11-03T09:00:00Z',
  kind: 'cuda',
  deviceName: 'NVIDIA H200',
  precision: 'bf16',
  verdict: 'works',
  quick: true,
  panelSha256: 'a'.repeat(64),
  viral: { called: 18, scored: 20 },
  host: { called: 1, scored: 19 },
};
const weak: RunControls = {
  ...works,
  kind: 'cpu',
  deviceName: 'AMD EPYC',
  precision: 'fp32',
  verdict: 'weak',
};
const device = (controls?: unknown) => ({
  facts: controls === undefined ? {} : { [CONTROLS_FACT]: controls },
});

describe('the controls of a run', () => {
  it('are unknown for a run that did not store them', () => {
    expect(controlsOf([device(), device()])).toBeNull();
    expect(controlsFacts([device()])).toBeNull();
    expect(describeRunControls([device()], 'en')).toBeNull();
  });

  it('count as never made if a run stores that there were none, or something unreadable', () => {
    for (const noted of [null, { verdict: 'works' }]) {
      expect(controlsOf([device(noted)])).toEqual([]);
      expect(describeRunControls([device(noted)], 'en')).toBe('never checked on these devices');
      expect(describeRunControls([device(noted)], 'de')).toBe('auf diesen Geräten nie geprüft');
    }
  });

  it('are listed once for each kind of device and each precision', () => {
    const fp32 = { ...works, precision: 'fp32' as const };
    expect(controlsOf([device(works), device(works), device(), device(fp32), device(weak)])).toEqual([
      works,
      fp32,
      weak,
    ]);
    expect(describeRunControls([device(works), device(weak)], 'en')).toBe(
      'Works (NVIDIA H200, BF16, 2026-11-03): 18 of 20 viral and 1 of 19 host sequences are called virus. ' +
        'Do not use it (AMD EPYC, FP32, 2026-11-03): 18 of 20 viral and 1 of 19 host sequences are called virus.',
    );
    expect(describeRunControls([device(works)], 'de')).toBe(
      'Funktioniert (NVIDIA H200, BF16, 2026-11-03): 18 von 20 viralen und 1 von 19 Wirtssequenzen werden als Virus eingestuft.',
    );
  });
});
