import { extname, join } from 'node:path';
import { isInside } from './knownPaths.ts';

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
};

interface PageFile {
  path: string;
  contentType: string;
  /** Its name holds a hash of its content. */
  immutable: boolean;
}

/**
 * The file of the built window for a URL path; undefined for anything outside its folder or not part of it.
 */
export function pageFile(folder: string, urlPath: string): PageFile | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(urlPath);
  } catch {
    return undefined;
  }
  if (decoded.includes('\0') || decoded.includes('\\')) return undefined;
  const path = join(folder, decoded === '/' ? 'index.html' : decoded);
  const contentType = MIME_TYPES[extname(path).toLowerCase()];
  if (!isInside(folder, path) || contentType === undefined) return undefined;
  return { path, contentType, immutable: decoded.startsWith('/assets/') };
}

/**
 * Sent with every response to a window. Nothing is loaded from elsewhere, no inline script runs, and nobody
 * may frame the page.
 * Inline styles are allowed, because Mantine and recharts position elements with them.
 */
export function pageHeaders(connectSources: readonly string[] = []): Record<string, string> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      ["connect-src 'self'", ...connectSources].join(' '),
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), payment=()',
  };
}
