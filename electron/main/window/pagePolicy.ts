/**
 * The window's own address. It uses our own scheme instead of file://, so that it has an origin and a policy.
 */
export const APP_SCHEME = 'app';
const APP_HOST = 'virnucpro';
export const APP_PAGE = `${APP_SCHEME}://${APP_HOST}/`;

/** Makes app:// an origin of its own, like https. */
export const SCHEME_PRIVILEGES = { standard: true, secure: true, supportFetchAPI: true, codeCache: true };

/** A page has the web platform and what the preload script gives it, but nothing from Node. */
export const PAGE_PREFERENCES = {
  sandbox: true,
  contextIsolation: true,
  nodeIntegration: false,
  nodeIntegrationInSubFrames: false,
  nodeIntegrationInWorker: false,
  webviewTag: false,
  webSecurity: true,
  spellcheck: false,
  navigateOnDragDrop: false,
};

/** Permissions that a page may get; all others are denied. */
const PERMISSIONS: ReadonlySet<string> = new Set([
  'clipboard-sanitized-write',
  'notifications',
  'fullscreen',
]);

/** Sites that the program links to: its own, and the sources of its weights and drivers. */
const EXTERNAL_HOSTS: ReadonlySet<string> = new Set([
  'github.com',
  'doi.org',
  'huggingface.co',
  'pytorch.org',
  'www.nvidia.com',
  'www.python.org',
]);

export function isAppPage(url: string): boolean {
  const parsed = parse(url);
  return parsed?.protocol === `${APP_SCHEME}:` && parsed.host === APP_HOST;
}

/** Whether a message comes from the window itself: its main frame, showing our page. */
export function isTrustedFrame(frame: { url: string; parent: unknown } | null): boolean {
  return frame !== null && frame.parent === null && isAppPage(frame.url);
}

export function isAllowedPermission(permission: string, requestingUrl: string): boolean {
  return PERMISSIONS.has(permission) && isAppPage(requestingUrl);
}

/** Whether a link may be opened in the user's browser. */
export function isAllowedExternalLink(url: string): boolean {
  const parsed = parse(url);
  return (
    parsed?.protocol === 'https:' &&
    parsed.username === '' &&
    parsed.password === '' &&
    parsed.port === '' &&
    EXTERNAL_HOSTS.has(parsed.hostname)
  );
}

function parse(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
