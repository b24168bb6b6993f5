/** A run on a made-up cluster to which everything happens that happens to clusters. */
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/result.ts';
import { readTables, WITHOUT_PYTHON } from '../testing/testContext.ts';
import type { OpenRun } from './openRun.ts';
import { MADE_UP_CLUSTER, madeUpCluster } from './testing/madeUpCluster.ts';
import { makeRun, undisturbed } from './testing/realRuns.ts';

const partsDone = (session: OpenRun): number => session.progress().parts.done;
const doneMoreThan = (session: OpenRun, parts: number) =>
  expect.poll(() => partsDone(session), { interval: 20 }).toBeGreaterThan(parts);

describe.skipIf(WITHOUT_PYTHON)('a run on a cluster', () => {
  it('gives the bytes of a local one while workers are killed, nodes leave and join, and the pool itself dies', async () => {
    const whole = await undisturbed();
    const { context, order } = await madeUpCluster();
    const session = await makeRun(context, { where: MADE_UP_CLUSTER, residuesPerPart: 1000 });
    const codes: string[] = [];
    session.subscribe((change) => {
      if (change.type === 'note') codes.push(change.note.code);
    });
    unwrap(await session.start());
    await order({ join: 'node1', devices: 2 });
    await order({ join: 'node2', devices: 1 });
    await doneMoreThan(session, 1);
    await order({ kill: 'node2' });
    await expect.poll(() => codes, { interval: 20 }).toContain('worker_died');
    await order({ join: 'node3', devices: 1 });
    await order({ leave: 'node1' });
    await doneMoreThan(session, partsDone(session) + 1);
    unwrap(await session.setDeviceIncluded('node3/0', false));
    await order({ leave: 'node3' });
    await order({ join: 'node3', devices: 1 });
    await doneMoreThan(session, partsDone(session) + 1);
    await order({ die: true });
    await expect.poll(() => codes, { interval: 20 }).toContain('cluster_lost');
    // It is started again, and knows of no nodes yet: the run waits.
    await expect.poll(() => session.clusterState(), { interval: 20 }).toMatchObject({ state: 'open' });
    expect(session.state.phase).toBe('running');
    await order({ join: 'node4', devices: 2 });
    await doneMoreThan(session, partsDone(session) + 1);
    // What the cluster began, this computer ends.
    unwrap(await session.pause());
    unwrap(await session.start({ devices: 'cpu:1' }));
    expect(await session.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    const { boundedParts } = (await session.store.loadRun()).counts;
    const nodes = new Set((await session.store.deviceSummaries()).map(({ device }) => device.split('/')[0]));
    await session.close();
    // No part was blamed twice, so none was cut in two.
    expect(boundedParts).toBe(0);
    expect([...nodes]).toEqual(expect.arrayContaining(['node1', 'node2', 'node4', 'cpu:0']));
    expect(await readTables(session.folder)).toEqual(whole.tables);
  });
});
