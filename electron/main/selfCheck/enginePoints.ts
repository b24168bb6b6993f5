import { createRouterClient } from '@orpc/server';
import { appFailure, AppFailure } from '../../contract/errors.ts';
import { serviceRouter, type Service, type WindowContext } from '../../engine/index.ts';
import { SET_UP_SWITCH, type Point } from './point.ts';

const SET_UP_WITHIN_MS = 40 * 60_000;
const EXAMPLE_WITHIN_MS = 10 * 60_000;

/** A client as a page has it, without a window. */
function clientOf(service: Service) {
  const window = { shell: 'electron', paths: { root: null, allows: () => false }, desktop: {} };
  return createRouterClient(serviceRouter(service), {
    context: { window: window as unknown as WindowContext },
  });
}

/** What the engine does in this process: threads with SQLite and DuckDB, and processes with Python. */
export const enginePoints: Point[] = [
  {
    what: 'Python is set up',
    withinMs: SET_UP_WITHIN_MS,
    check: async ({ service }) => {
      if ((await service.pythonEnvironment.environment()).ok) return 'yes';
      if (!process.argv.includes(SET_UP_SWITCH)) return { skipped: `not yet; ${SET_UP_SWITCH} does it here` };
      const client = clientOf(service);
      await client.computer.setUpPython();
      for await (const status of await client.computer.environment()) {
        if ('error' in status) throw new AppFailure(status.error);
        if (status.state === 'ready') return `Python ${status.pythonVersion}`;
      }
      throw new Error('the set-up ended without an answer');
    },
  },
  {
    what: 'The example is computed, and answers a query',
    withinMs: EXAMPLE_WITHIN_MS,
    check: async ({ service }) => {
      if (!(await service.pythonEnvironment.environment()).ok) return { skipped: 'Python is not set up' };
      const client = clientOf(service);
      const { runId } = await client.runs.runExample();
      for await (const { run } of await client.runs.watch({ runId })) {
        if (run.state.phase === 'done') break;
        if ('error' in run.state && run.state.error) throw new AppFailure(run.state.error);
      }
      const { rows } = await client.results.query({ runId, sql: 'SELECT count(*) > 0 FROM chunks' });
      if (rows[0]?.[0] !== true) throw appFailure('internal', 'A query was not answered.');
      return 'yes';
    },
  },
];
