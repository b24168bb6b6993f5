import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Where } from '../../../contract/rpc/runs.ts';
import type { EngineContext } from '../../engineContext.ts';
import { temporaryFolder, testContext } from '../../testing/testContext.ts';

/** Stands in for a Ray cluster of nodes with one or more processors each. */
export const MADE_UP_CLUSTER: Where = {
  kind: 'ray',
  address: 'made-up:6379',
  shared_storage: true,
  cpu_workers_per_node: 1,
};

type Order =
  | { join: string; devices: number }
  | { leave: string }
  | { kill: string }
  | { waiting: number; reason: string }
  | { die: true };

/** A cluster whose nodes come and go by order; its workers are real ones of this computer (made_up_pool.py). */
export async function madeUpCluster(
  fault?: string,
): Promise<{ context: EngineContext; order: (order: Order) => Promise<void> }> {
  const orders = join(await temporaryFolder(), 'orders');
  await writeFile(orders, '');
  return {
    context: testContext({ fault: [`cluster:${orders}`, ...(fault ? [fault] : [])].join(',') }),
    order: (order) => appendFile(orders, `${JSON.stringify(order)}\n`),
  };
}
