import { expect, it } from 'vitest';
import { processorOfShare } from '../../../electron/contract/index.ts';
import { createTexts } from '../../i18n/index.ts';
import { deviceTitle, type DeviceNumber } from './deviceLabels.ts';

it('names each processor of a node differently if each computes another share', () => {
  const { t } = createTexts('en');
  const processor = (share: number): DeviceNumber => ({
    id: processorOfShare('cpu:0', 'node1', `${share}-of-4`),
    index: null,
    place: { node: 'node1', number: 0 },
  });
  expect([1, 2].map((share) => deviceTitle(processor(share), t))).toEqual([
    'Processor 1 (share 1) of node1',
    'Processor 1 (share 2) of node1',
  ]);
  expect(deviceTitle({ id: 'GPU-1', index: 2, place: null }, t)).toBe('GPU 2');
});
