export { serviceRouter, type ServiceRouter } from './router/index.ts';
export { isAtWork } from './runSummary.ts';
export { openService, type Service, type ServiceOptions } from './service.ts';
export { isInside, realPath } from './pathInside.ts';
export type { DesktopActions, DownloadOffers, PathPolicy, WindowContext } from './windowContext.ts';
export { pageFile, pageHeaders, type PageFile } from './pageFiles.ts';
