export { serviceRouter, type ServiceRouter } from './router/index.ts';
export { isAtWork } from './runs/runSummary.ts';
export { ShellLog, shellLogFile } from './computer/shellLog.ts';
export { openService, type Service, type ServiceOptions } from './service.ts';
export { isInside, realPath } from './window/pathInside.ts';
export type { DesktopActions, DownloadOffers, PathPolicy, WindowContext } from './window/windowContext.ts';
export { pageFile, pageHeaders, type PageFile } from './window/pageFiles.ts';
