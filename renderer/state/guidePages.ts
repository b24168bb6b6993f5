/** The pages of docs/guide that the window shows, by the names of their files. */
export const GUIDE_PAGES = ['first-run', 'biologist', 'bioinformatician', 'requirements'] as const;
export type GuidePage = (typeof GUIDE_PAGES)[number];
