import { readFile } from 'node:fs/promises';
import { protocol, type Session } from 'electron';
import { pageFile, pageHeaders } from '../../engine/index.ts';
import { APP_SCHEME, isAppPage, SCHEME_PRIVILEGES } from './pagePolicy.ts';

/** Must be called before the app is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: APP_SCHEME, privileges: SCHEME_PRIVILEGES }]);
}

/** Serves the built window under app://, and no other file of the disk. */
export function serveApp(session: Session, pageFolder: string): void {
  session.protocol.handle(APP_SCHEME, async (request) => {
    const file = isAppPage(request.url) ? pageFile(pageFolder, new URL(request.url).pathname) : undefined;
    const content = file && (await readFile(file.path).catch(() => undefined));
    if (!file || !content) return new Response('Not found', { status: 404, headers: pageHeaders() });
    return new Response(new Uint8Array(content), {
      headers: { ...pageHeaders(), 'content-type': file.contentType },
    });
  });
}
