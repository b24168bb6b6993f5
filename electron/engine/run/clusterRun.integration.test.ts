/** Runs on a made-up cluster: its pool is a test's, its nodes are this computer, and its workers are real. */
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/result.ts';
import { readTables, temporaryFolder, WITHOUT_PYTHON } from '../testing/testContext.ts';
import Database from 'better-sqlite3';
import { OpenRun, type StartOptions } from './openRun.ts';
import { makeRun, undisturbed } from './testing/realRuns.ts';
import { MADE_UP_CLUSTER, madeUpCluster } from './testing/madeUpCluster.ts';

describe.skipIf(WITHOUT_PYTHON)('a run on a cluster', () => {
  it('waits for a node, loses another before it computes, and gives the bytes of a local run', async () => {
    const { context, order } = await madeUpCluster();
    const session = await makeRun(context, { where: MADE_UP_CLUSTER });
    unwrap(await session.start());
    await order({ waiting: 0, reason: 'No node has a GPU.' });
    await expect
      .poll(() => session.clusterState(), { interval: 20 })
      .toMatchObject({ waiting: 0, reason: 'No node has a GPU.' });
    await order({ waiting: 1, reason: 'Priority' });
    await expect
      .poll(() => session.clusterState(), { interval: 20 })
      .toMatchObject({ state: 'open', version: 'Made-up 1.0', waiting: 1, reason: 'Priority' });
    await order({ join: 'node2', devices: 1 });
    await expect.poll(() => session.deviceStates(), { interval: 20 }).toHaveLength(1);
    await order({ leave: 'node2' });
    await expect
      .poll(() => session.deviceStates(), { interval: 20 })
      .toMatchObject([
        { worker: { state: 'left', reason: 'the node was taken away' }, place: { node: 'node2', number: 0 } },
      ]);
    expect(session.state.phase).toBe('running');
    await order({ join: 'node1', devices: 1 });
    expect(await session.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    await session.close();
    const whole = await undisturbed();
    expect(await readTables(session.folder)).toEqual(whole.tables);
    const facts = JSON.parse(await readFile(join(session.folder, 'run.json'), 'utf8')) as {
      cluster: { nodes: { node: string; devices: { id: string }[] }[]; equality: string };
    };
    expect(facts.cluster.nodes).toMatchObject([
      { node: 'node1', devices: [{ id: 'node1/0' }] },
      { node: 'node2', devices: [{ id: 'node2/0', parts: 0 }] },
    ]);
    expect(facts.cluster.equality).toContain('tolerance');
  });

  it('is not what a run does because its sender says so, but what the user says', async () => {
    const { context } = await madeUpCluster();
    const own = await makeRun(context, { where: MADE_UP_CLUSTER });
    await own.close();
    const sent = join(await temporaryFolder(), 'sent');
    await cp(own.folder, sent, { recursive: true });
    await mkdir(join(sent, 'work', 'pool', 'tasks', '77_0.0'), { recursive: true });
    await writeFile(join(sent, 'work', 'pool', 'jobs.json'), '{"session": 1, "jobs": ["77"]}');
    const startsOn = async (folder: string, options?: StartOptions): Promise<string> => {
      const run = unwrap(await OpenRun.open(context, folder));
      unwrap(await run.start(options));
      const cluster = run.clusterState();
      unwrap(await run.pause());
      await run.close();
      return cluster === null ? 'this computer' : cluster.kind;
    };
    expect(await startsOn(sent)).toBe('this computer');
    // Which jobs of the scheduler are the run's, such as those to be cancelled, it does not say either.
    expect(existsSync(join(sent, 'work', 'pool'))).toBe(false);
    expect(await startsOn(sent, { where: MADE_UP_CLUSTER })).toBe('ray');
    expect(await startsOn(own.folder)).toBe('ray');
    const database = new Database(join(own.folder, 'run.db'));
    database.exec(
      `UPDATE run SET options = json_set(options, '$.request.where.address', 'else.where:6379'), plan_sha256 = NULL`,
    );
    database.close();
    expect(await startsOn(own.folder)).toBe('this computer');
  });
});
