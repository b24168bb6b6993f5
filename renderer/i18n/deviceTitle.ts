import type { DeviceLive } from '../../electron/contract/index.ts';
import type { Texts } from './index.ts';

/** GPU 0, or Processor 1: CPU workers carry their number, from 0, in their id (cpu:0). */
export function deviceTitle(device: Pick<DeviceLive, 'id' | 'index'>, t: Texts['t']): string {
  if (device.index !== null) return t('device.gpu', { index: device.index });
  const worker = /^cpu:(\d+)$/.exec(device.id)?.[1];
  return worker === undefined ? device.id : t('device.processor', { number: Number(worker) + 1 });
}
