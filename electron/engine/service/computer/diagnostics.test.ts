import { expect, it } from 'vitest';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import type { RunEvent } from '../../store/types.ts';
import { diagnosticsText } from './diagnostics.ts';

const plan = {
  inputs: [
    { path: '/disk/patients/gut.fa', sizeBytes: 9 },
    { path: '/disk/patients/gut.fa.old', sizeBytes: 1 },
  ],
  model: { name: 'teaching' },
  precision: 'fp32',
  imported: { folder: '/disk/patients/earlier' },
};
const summary = {
  plan,
  folder: '/disk/patients/gut_predictions',
  createdAt: '2026-11-01T12:00:00Z',
  state: { phase: 'done' },
} as unknown as RunSummary;
const warning = (message: string) => ({ time: 0, level: 'warning', code: 'x', message }) as RunEvent;

it('contains no file names of the user, neither inputs, nor files left out of a run, nor those of earlier runs', () => {
  const troubles = [
    warning('gut.fa.old: Sequences with lower-case letters: 1.'),
    warning('/disk/patients/empty.fa is left out of the run: empty.fa holds no sequences.'),
    warning('Embeddings were taken over from /disk/patients/earlier.'),
    warning('viral_sequences.fna could not be written into /disk/patients/gut_predictions.'),
  ];
  const text = diagnosticsText({
    appVersion: '1.2.3',
    shell: 'terminal',
    dataDir: '/data',
    environment: null,
    probe: null,
    checks: [],
    runs: [{ summary, troubles, leftOut: ['/disk/patients/empty.fa'] }],
    shellLog: ['opened /disk/patients/gut.fa'],
  });
  expect(text).not.toMatch(/patients|gut|empty/);
  expect(text).toContain('<input 2>: Sequences with lower-case letters');
  expect(text).toContain('<left out 1> is left out of the run: <left out 1> holds no sequences.');
  expect(text).toContain('from <earlier run>.');
  expect(text).toContain('into <run folder>.');
  expect(text).toContain('opened <input 1>');
});
