import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** PyTorch's own package index, for the CUDA of the pinned version. */
const CUDA_INDEX = 'https://download.pytorch.org/whl/cu130';

export interface System {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly exists: (path: string) => boolean;
}

const THIS_SYSTEM: System = { platform: process.platform, arch: process.arch, exists: existsSync };

/** What pip is told so that PyTorch can use NVIDIA's GPUs: on Linux with an x86 processor nothing, since there the ordinary
 * package has CUDA in it. Elsewhere it is for processors only, and the one for CUDA has the higher version. */
export function cudaIndex({ platform, arch, exists }: System = THIS_SYSTEM): string[] {
  const driver =
    platform === 'win32'
      ? join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'nvml.dll')
      : platform === 'linux' && arch === 'arm64'
        ? '/proc/driver/nvidia/version'
        : undefined;
  return driver !== undefined && exists(driver) ? ['--extra-index-url', CUDA_INDEX] : [];
}
