import { describe, expect, it } from 'vitest';
import type { SlurmChoice } from '../../../contract/cluster.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import { slurmPlace, slurmScript } from '../../../contract/terminal/slurmScript.ts';
import { precisionOf, workOf } from '../begin/chooseDevices.ts';
import { withoutGpus } from './clusterPlan.ts';

const OWN = ['node', '/ours.js'];
const ON_GPUS = slurmScript(['--array=1-2'], false, OWN);

function placeOf(script: string): SlurmChoice {
  const place = slurmPlace(script);
  if (place === null) throw new Error('no script');
  return place;
}
const refusal = (script: string, torch: string): string | undefined =>
  withoutGpus(placeOf(script), { packages: { torch } }, OWN)?.code;

describe('a job that asks for GPUs', () => {
  it('is refused before it queues if its tasks would have a PyTorch for processors', () => {
    expect(refusal(ON_GPUS, '2.13.0+cpu')).toBe('device_blocked');
    const ray = { kind: 'ray', address: 'head:6379', shares: 8, cpus: 0 } as const;
    const environment = { packages: { torch: '2.13.0+cpu' } };
    expect(withoutGpus(ray, environment, OWN)?.code).toBe('device_blocked');
    expect(withoutGpus({ ...ray, cpus: 2 }, environment, OWN)).toBeNull();
  });

  it('is accepted from the desktop app, whose Python no node uses', () => {
    expect(withoutGpus(placeOf(ON_GPUS), { packages: { torch: '2.13.0+cpu' } }, ['virnucpro'])).toBeNull();
  });

  it.each<[string, string, string]>([
    ['PyTorch can use them', ON_GPUS, '2.13.0'],
    ['it computes on processors', slurmScript(['--array=1-2'], true, OWN), '2.13.0+cpu'],
    ['its nodes have a program of their own', slurmScript(['--array=1-2'], false, ['/own']), '2.13.0+cpu'],
  ])('is accepted if %s', (_, script, torch) => {
    expect(refusal(script, torch)).toBeUndefined();
  });
});

describe('the precision of a run that a cluster computes', () => {
  const chosen = (wanted: 'auto' | Precision, plannedFor: 'cpu' | 'gpu') => {
    const precision = precisionOf(wanted, { devices: [], plannedFor });
    return precision.ok ? precision.value : precision.error.code;
  };

  it.each([
    ['cpu', 'auto', 'fp32'],
    ['cpu', 'bf16', 'bf16'],
    ['cpu', 'fp16', 'precision_unsupported'],
    ['cpu', 'fp8', 'precision_unsupported'],
    ['gpu', 'auto', 'bf16'],
    ['gpu', 'fp16', 'fp16'],
    ['gpu', 'fp32', 'fp32'],
    ['gpu', 'fp8', 'precision_unsupported'],
  ] as const)('on a %s, %s: %s', (plannedFor, wanted, expected) => {
    expect(chosen(wanted, plannedFor)).toBe(expected);
  });
});

it('plans smaller batches and parts for an Apple GPU than for others', () => {
  const apple = { kind: 'mps', id: 'mps', name: 'Apple M1 GPU', precisions: ['fp32'] } as const;
  const request = runRequestSchema.parse({ inputs: ['/a.fa'] });
  const [own, gpu] = [
    workOf(request, { devices: [apple], plannedFor: null }, 1e9),
    workOf(request, { devices: [], plannedFor: 'gpu' }, 1e9),
  ];
  expect(own.tokensPerBatch).toBeLessThan(gpu.tokensPerBatch);
  expect(own.residuesPerPart).toBeLessThan(gpu.residuesPerPart);
});
