/**
 * The pages of docs/ that the window shows, by file name and in the order in which Help lists them, with the card of the teaching
 * model. They are in English whatever the window's language is.
 */
export const GUIDE = {
  start: ['first-run', 'biologist', 'bioinformatician', 'requirements'],
  screens: [
    'new-run',
    'progress',
    'files',
    'results-tab',
    'runs',
    'models',
    'computer-check',
    'computers',
    'rented-gpu',
    'settings',
  ],
  results: ['numbers', 'results', 'methods', 'peers', 'limits', 'MODEL_CARD'],
  trouble: ['troubleshooting'],
} as const;
export type GuideSection = keyof typeof GUIDE;
export type GuidePage = (typeof GUIDE)[GuideSection][number];
export const GUIDE_PAGES: readonly GuidePage[] = Object.values(GUIDE).flat();
