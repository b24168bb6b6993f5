import { describe, expect, it } from 'vitest';
import { hashOfRoute, routeFromHash, RUN_TABS, type Route } from './navigation.ts';

const routes: Route[] = [
  { screen: 'new-run' },
  { screen: 'runs' },
  { screen: 'models' },
  { screen: 'computer' },
  { screen: 'settings' },
  { screen: 'help' },
  { screen: 'compare', runId: 'abc', otherRunId: 'def' },
  { screen: 'compare', runId: 'abc', otherRunId: null },
  { screen: 'guide', page: 'requirements' },
  ...RUN_TABS.map((tab) => ({ screen: 'run' as const, runId: '11111111-1111-4111-8111-111111111111', tab })),
];

describe('the screen in the address', () => {
  it.each(routes)('$screen survives a reload', (route) => {
    expect(routeFromHash(hashOfRoute(route))).toEqual(route);
  });

  it.each(['', '#', '#/', '#/nowhere', '#/run', '#/run/'])('%s opens a new run', (hash) => {
    expect(routeFromHash(hash)).toEqual({ screen: 'new-run' });
  });

  it('opens a run on its progress tab if the tab is unknown', () => {
    expect(routeFromHash('#/run/abc/whatever')).toEqual({ screen: 'run', runId: 'abc', tab: 'progress' });
  });
});
