/**
 * The pages of docs/ that the window shows, by the names of their files and in the order in which Help lists them. Those with a
 * file of the same name that ends in .de.md are there in German.
 */
export const GUIDE = {
  start: ['first-run', 'biologist', 'bioinformatician', 'requirements'],
  screens: [
    'new-run',
    'progress',
    'files',
    'results-tab',
    'runs',
    'computer-check',
    'computers',
    'rented-gpu',
    'settings',
  ],
  results: ['numbers', 'results', 'methods', 'peers', 'limits'],
  trouble: ['troubleshooting'],
} as const;
export type GuideSection = keyof typeof GUIDE;
export type GuidePage = (typeof GUIDE)[GuideSection][number];
export const GUIDE_PAGES: readonly GuidePage[] = Object.values(GUIDE).flat();
