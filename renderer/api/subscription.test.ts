import { describe, expect, it, vi } from 'vitest';
import { createStore } from 'zustand';
import { createMemoryEngine } from '../testing/memoryEngine/index.ts';
import { RUN_IDS } from '../testing/memoryEngine/runs.ts';
import { linkTo } from '../testing/memoryLink.ts';
import type { ConnectionState } from './connection.ts';
import { followStream } from './subscription.ts';

const connection = () => createStore<ConnectionState>(() => ({ status: 'connecting' }));

/** With patience for a busy machine. */
const eventually = (assertion: () => void) => vi.waitFor(assertion, { timeout: 20_000 });

describe('following a watch call', () => {
  it('asks anew after a reconnect, so that the window catches up', async () => {
    const engine = createMemoryEngine();
    const store = connection();
    const seen: string[] = [];
    const stop = followStream(store, (client, signal) => client.runs.watchAll(undefined, { signal }), {
      onEvent: (runs) => seen.push(runs.find((run) => run.runId === RUN_IDS.done)?.name ?? ''),
    });
    const first = linkTo(engine);
    store.setState({ status: 'connected', client: first.client });
    await eventually(() => expect(seen).toEqual(['Lake plankton']));

    first.cut();
    store.setState({ status: 'lost', attempt: 1 });
    engine.changeRun(RUN_IDS.done, { name: 'Renamed meanwhile' });
    store.setState({ status: 'connected', client: linkTo(engine).client });
    await eventually(() => expect(seen).toEqual(['Lake plankton', 'Renamed meanwhile']));
    stop();
  });

  it('tells an error that the engine answers, with its title and next step', async () => {
    const store = connection();
    store.setState({ status: 'connected', client: linkTo(createMemoryEngine()).client });
    const onError = vi.fn();
    followStream(
      store,
      (client, signal) => client.runs.watch({ runId: '99999999-9999-4999-8999-999999999999' }, { signal }),
      { onEvent: () => undefined, onError },
    );
    await eventually(() =>
      expect(onError).toHaveBeenCalledWith(
        expect.objectContaining({ code: 'folder_gone', title: 'Results folder is gone' }),
      ),
    );
  });

  it('says nothing after it was ended', async () => {
    const engine = createMemoryEngine();
    const store = connection();
    const onEvent = vi.fn();
    const stop = followStream(store, (client, signal) => client.runs.watchAll(undefined, { signal }), {
      onEvent,
    });
    store.setState({ status: 'connected', client: linkTo(engine).client });
    await eventually(() => expect(onEvent).toHaveBeenCalledTimes(1));
    stop();
    engine.changeRun(RUN_IDS.done, { name: 'Too late' });
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(onEvent).toHaveBeenCalledTimes(1);
  });
});
