/** A device that a worker will hold, as chosen by the user or by `auto`. */
export type ChosenDevice =
  | { readonly kind: 'cpu'; /** cpu:0, cpu:1, ... */ readonly id: string; readonly name: string }
  | {
      readonly kind: 'cuda';
      /** The UUID, which is also how a worker is pinned to it. */
      readonly id: string;
      /** nvidia-smi's number. */
      readonly index: number;
      readonly name: string;
      readonly capability: readonly [major: number, minor: number];
      readonly memoryTotalBytes: number;
      readonly memoryFreeBytes: number;
    }
  | { readonly kind: 'mps'; readonly id: 'mps'; readonly name: string };

/** Variables that pin a worker to its device, for `pythonLaunch`'s overrides. */
export function workerEnvironment(device: ChosenDevice): Record<string, string> {
  switch (device.kind) {
    case 'cuda':
      return { CUDA_VISIBLE_DEVICES: device.id, CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };
    case 'cpu':
      // One thread per worker: sums must not depend on how many cores there are.
      return { CUDA_VISIBLE_DEVICES: '', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' };
    case 'mps':
      return { CUDA_VISIBLE_DEVICES: '' };
  }
}
