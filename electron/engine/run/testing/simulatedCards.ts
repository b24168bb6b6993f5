import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProbeResult } from '../../../contract/protocol/index.ts';
import { temporaryFolder } from '../../testing/testContext.ts';

const GIB = 1024 ** 3;

/** The memory of a GPU that the processor stands in for. */
export interface Card {
  total: number;
  free: number;
  fixed: { resident: number; streamed: number };
  per_token: number;
  holds: number;
}
export const ROOMY: Card = {
  total: 40 * GIB,
  free: 39 * GIB,
  fixed: { resident: 6 * GIB, streamed: GIB },
  per_token: 64 * 1024,
  holds: 100_000,
};

/** The file that the fault `gpus` reads: a computer with these GPUs, each with the memory of a real card. */
export function cardsFile(probe: ProbeResult, card: Card): string {
  const file = join(temporaryFolder(), 'gpus.json');
  const cards = Object.fromEntries(
    probe.gpus.map((gpu) => [
      gpu.uuid,
      {
        name: gpu.name,
        capability: gpu.compute_capability,
        ...card,
      },
    ]),
  );
  writeFileSync(file, JSON.stringify({ probe, cards }));
  return file;
}
