import { create } from 'zustand';
import { GUIDE_PAGES, type GuidePage } from './guidePages.ts';

export const RUN_TABS = ['progress', 'results', 'samples', 'plots', 'tools', 'files'] as const;
export type RunTab = (typeof RUN_TABS)[number];

/** A finished run begins with its answer and ends with how it ran. */
export const runTabs = (isDone: boolean): readonly RunTab[] =>
  isDone ? [...RUN_TABS.filter((tab) => tab !== 'progress'), 'progress'] : RUN_TABS;

const PLAIN_SCREENS = [
  'start',
  'new-run',
  'runs',
  'models',
  'computer',
  'computers',
  'settings',
  'help',
] as const;

export type Route =
  | { readonly screen: (typeof PLAIN_SCREENS)[number] }
  | { readonly screen: 'run'; readonly runId: string; readonly tab: RunTab }
  | { readonly screen: 'compare'; readonly runId: string; readonly otherRunId: string | null }
  | { readonly screen: 'guide'; readonly page: GuidePage };

/** The screen is kept in the address's fragment, so that a reload and the back button work in every shell. */
export function routeFromHash(hash: string): Route {
  const [screen, what, tab] = hash.replace(/^#\/?/, '').split('/');
  if (screen === 'run' && what) {
    return { screen: 'run', runId: what, tab: RUN_TABS.find((known) => known === tab) ?? 'progress' };
  }
  if (screen === 'compare' && what) return { screen, runId: what, otherRunId: tab || null };
  if (screen === 'guide') {
    return { screen: 'guide', page: GUIDE_PAGES.find((known) => known === what) ?? 'first-run' };
  }
  return { screen: PLAIN_SCREENS.find((known) => known === screen) ?? 'new-run' };
}

export function hashOfRoute(route: Route): string {
  switch (route.screen) {
    case 'run':
      return `#/run/${route.runId}/${route.tab}`;
    case 'compare':
      return `#/compare/${route.runId}/${route.otherRunId ?? ''}`;
    case 'guide':
      return `#/guide/${route.page}`;
    default:
      return `#/${route.screen}`;
  }
}

export const useNavigation = create<{ readonly route: Route }>(() => ({
  route: routeFromHash(location.hash),
}));

export function go(route: Route): void {
  if (location.hash === hashOfRoute(route)) return;
  useNavigation.setState({ route });
  history.pushState(null, '', hashOfRoute(route));
}

window.addEventListener('popstate', () => useNavigation.setState({ route: routeFromHash(location.hash) }));

export const goToRun = (runId: string, tab: RunTab = 'progress') => go({ screen: 'run', runId, tab });
