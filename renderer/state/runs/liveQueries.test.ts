import { waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { toShownError } from '../../api/callError.ts';
import { queries, type Transport, retryConnection, startConnection } from '../connection.ts';
import { madeDevices } from '../../testing/memoryEngine/computer.ts';
import { createMemoryEngine } from '../../testing/memoryEngine/index.ts';
import { RUN_IDS } from '../../testing/memoryEngine/runs.ts';
import { linkTo } from '../../testing/memoryLink.ts';
import { followRun, useLiveRun } from './liveRun.ts';
import { queryClient } from '../queryClient.ts';
import { followRuns, useRuns } from './runs.ts';

/** Makes every link lead to one engine; the newest link can be ended. */
function engineWithLinks(options: Parameters<typeof createMemoryEngine>[0] = {}) {
  const engine = createMemoryEngine(options);
  onTestFinished(engine.close);
  let cut = () => {};
  const transport: Transport = {
    open() {
      const link = linkTo(engine);
      cut = () => link.cut();
      return Promise.resolve(link);
    },
  };
  return { engine, transport, cut: () => cut() };
}

const nameOfDone = () => useRuns.getState().runs?.find((run) => run.runId === RUN_IDS.done)?.name;

describe('following the stream of an engine', () => {
  let stops: (() => void)[] = [];
  beforeEach(() => {
    queryClient.clear();
    queryClient.mount();
    useRuns.setState({ runs: null, error: null });
  });
  afterEach(() => {
    for (const stop of stops) stop();
    stops = [];
    queryClient.unmount();
  });

  it('catches up after a reconnect', async () => {
    const { engine, transport, cut } = engineWithLinks();
    stops = [startConnection(transport), followRuns()];
    await waitFor(() => expect(nameOfDone()).toBe('Lake plankton'));
    cut();
    engine.changeRun(RUN_IDS.done, { name: 'Renamed meanwhile' });
    retryConnection();
    await waitFor(() => expect(nameOfDone()).toBe('Renamed meanwhile'));
    expect(useRuns.getState().error).toBeNull();
  });

  it('asks again for what is known of a run when it ends', async () => {
    const { engine, transport } = engineWithLinks();
    stops = [startConnection(transport), followRuns()];
    await waitFor(() => expect(nameOfDone()).toBe('Lake plankton'));
    const files = queries.runs.inputs.queryOptions({
      input: { runId: RUN_IDS.running, offset: 0, limit: 1 },
    });
    await queryClient.query(files);
    const isAskedAgain = () => queryClient.getQueryState(files.queryKey)?.isInvalidated;
    expect(isAskedAgain()).toBe(false);
    engine.changeRun(RUN_IDS.running, { state: { phase: 'done', failedParts: 0, failedRecords: 0 } });
    await waitFor(() => expect(isAskedAgain()).toBe(true));
  });

  it('shows an error that the engine answers, with its title and next step', async () => {
    const { transport } = engineWithLinks();
    stops = [startConnection(transport), followRun('ffffffff-ffff-4fff-8fff-ffffffffffff')];
    await waitFor(() =>
      expect(toShownError(useLiveRun.getState().error)).toMatchObject({
        code: 'folder_gone',
        title: 'Results folder is gone',
      }),
    );
  });

  it('receives nothing after it was stopped', async () => {
    const { engine, transport } = engineWithLinks();
    const stop = followRuns();
    stops = [startConnection(transport)];
    await waitFor(() => expect(nameOfDone()).toBe('Lake plankton'));
    stop();
    engine.changeRun(RUN_IDS.done, { name: 'Too late' });
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(nameOfDone()).toBe('Lake plankton');
  });

  it('reuses the objects of unchanged data, so that they are not rendered again', async () => {
    const { transport } = engineWithLinks({ devices: 2 });
    stops = [startConnection(transport), followRun(RUN_IDS.running)];
    const seen: NonNullable<ReturnType<typeof useLiveRun.getState>['live']>[] = [];
    stops.push(useLiveRun.subscribe(({ live }) => live && seen.push(live)));
    await waitFor(() => expect(seen.length).toBeGreaterThan(2));
    const [first, second] = [seen.at(-2), seen.at(-1)];
    expect(second).not.toBe(first);
    expect(second?.run.plan).toBe(first?.run.plan);
    expect(second?.recentEvents[0]).toBe(first?.recentEvents[0]);
    expect(madeDevices(2)).toHaveLength(second?.devices.length ?? 0);
  });
});
