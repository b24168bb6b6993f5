import { app, shell, type Session, type WebContents } from 'electron';
import { isAllowedExternalLink, isAllowedPermission, isAppPage } from './pagePolicy.ts';

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
