import { expect, it } from 'vitest';
import { processorOfShare } from '../../../electron/contract/index.ts';
import { createTexts } from '../../i18n/index.ts';
import { deviceTitle, titleOnNode, type DeviceNumber } from './deviceLabels.ts';

it('names each processor of a node differently if each computes another share', () => {
  const { t } = createTexts('en');
  const processor = (share: number): DeviceNumber => ({
    id: processorOfShare('cpu:0', 'node1', `${share}-of-4`),
    index: null,
    place: { node: 'node1', number: 0 },
  });
  expect([1, 2].map((share) => titleOnNode(processor(share), t))).toEqual([
    'Processor 1 (share 1)',
    'Processor 1 (share 2)',
  ]);
  expect(deviceTitle(processor(3), t)).toBe('Processor 1 (share 3) of node1');
  expect(titleOnNode({ id: 'GPU-1', index: 2, place: { node: 'node1', number: 2 } }, t)).toBe('GPU 2');
});
