import { app, shell, type Session, type WebContents, protocol } from 'electron';
import { readFile } from 'node:fs/promises';
import {
  isAllowedExternalLink,
  isAllowedPermission,
  isAppPage,
  APP_SCHEME,
  SCHEME_PRIVILEGES,
} from './pagePolicy.ts';
import { pageFile, pageHeaders } from '../../engine/index.ts';

/**
 * By default denies a page everything beyond showing itself: navigating elsewhere, opening windows, using
 * devices.
 */
export function guardAllPages(): void {
  app.on('web-contents-created', (_, contents) => {
    guardNavigation(contents);
  });
  app.on('session-created', guardSession);
}

function guardNavigation(contents: WebContents): void {
  const stay = (event: { preventDefault: () => void; url: string }): void => {
    if (!isAppPage(event.url)) event.preventDefault();
  };
  contents.on('will-navigate', stay);
  contents.on('will-redirect', stay);
  contents.on('will-frame-navigate', stay);
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
  });
  contents.setWindowOpenHandler(({ url }) => {
    if (isAllowedExternalLink(url)) void shell.openExternal(url);
    return { action: 'deny' };
  });
}

function guardSession(session: Session): void {
  session.setPermissionRequestHandler((_, permission, answer, { requestingUrl }) => {
    answer(isAllowedPermission(permission, requestingUrl));
  });
  session.setPermissionCheckHandler((_, permission, requestingOrigin) =>
    isAllowedPermission(permission, requestingOrigin),
  );
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_, answer) => {
    answer({});
  });
  session.on('will-download', (event) => {
    // The engine writes exports to the file that the user chose.
    event.preventDefault();
  });
}

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
