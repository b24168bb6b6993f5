/** A run on a made-up cluster to which everything happens that happens to clusters. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/result.ts';
import { readTables, temporaryFolder, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { MADE_UP_CLUSTER, madeUpCluster } from './testing/madeUpCluster.ts';
import { makeRun, undisturbed } from './testing/realRuns.ts';

describe.skipIf(WITHOUT_PYTHON)('a run on a cluster', () => {
  it('gives the bytes of a local one while workers are killed, nodes leave and join, and the pool itself dies', async () => {
    const whole = await undisturbed();
    // However fast this computer is, the run must not be over before everything has happened to it.
    const permits = join(await temporaryFolder(), 'permits');
    await mkdir(permits);
    const { context, order } = await madeUpCluster(`permitted:${permits}`);
    const session = await makeRun(context, { where: MADE_UP_CLUSTER, residuesPerPart: 1000 });
    const codes: string[] = [];
    session.subscribe((change) => {
      if (change.type === 'note') codes.push(change.note.code);
    });
    const noted = (code: string) => expect.poll(() => codes, { interval: 20 }).toContain(code);
    const stateOf = (id: string) => session.deviceStates().find((device) => device.id === id)?.worker.state;
    const becomes = (id: string, states: RegExp) =>
      expect.poll(() => stateOf(id) ?? '', { interval: 20 }).toMatch(states);
    const ready = (id: string) => becomes(id, /^(idle|working)$/);
    const computeSome = async (): Promise<void> => {
      const before = session.progress().parts.done;
      for (let permit = 0; permit < 4; permit++) await writeFile(join(permits, randomUUID()), '');
      await expect.poll(() => session.progress().parts.done, { interval: 20 }).toBeGreaterThan(before + 1);
    };
    unwrap(await session.start());
    await order({ join: 'node1', devices: 2 });
    await computeSome();
    await order({ join: 'node2', devices: 1 });
    await ready('node2/0');
    await order({ kill: 'node2' });
    await noted('worker_died');
    await order({ join: 'node3', devices: 1 });
    await order({ leave: 'node1' });
    await becomes('node1/1', /^left$/);
    await computeSome();
    await ready('node3/0');
    unwrap(await session.setDeviceIncluded('node3/0', false));
    await order({ leave: 'node3' });
    await becomes('node3/0', /^left$/);
    await order({ join: 'node3', devices: 1 });
    await becomes('node3/0', /^excluded$/);
    await computeSome();
    await order({ die: true });
    await noted('cluster_lost');
    // It is started again, and knows of no nodes yet: the run waits.
    await expect.poll(() => session.clusterState(), { interval: 20 }).toMatchObject({ state: 'open' });
    expect(session.state.phase).toBe('running');
    await order({ join: 'node4', devices: 2 });
    await computeSome();
    // What the cluster began, this computer ends.
    unwrap(await session.pause());
    await rm(permits, { recursive: true });
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
