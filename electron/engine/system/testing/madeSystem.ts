import { systemOf, type SystemCalls } from '../here.ts';
import type { System } from '../types.ts';

/**
 * A made-up computer of each kind: calls that a test does not answer fail, as on a system that lacks them.
 */
export function madeSystem(platform: NodeJS.Platform, answers: Partial<SystemCalls> = {}): System {
  const refuse = (): never => {
    throw Object.assign(new Error('not there'), { code: 'ENOENT' });
  };
  return systemOf(platform, {
    readText: refuse,
    fileSystemType: refuse,
    hasGlibc: refuse,
    outputOf: refuse,
    realPath: refuse,
    kernelRelease: refuse,
    ...answers,
  });
}
