import { app, clipboard, shell } from 'electron';
import { homedir } from 'node:os';
import { asAppError } from '../../contract/errors.ts';
import { askUser } from '../askUser.ts';
import { startServer, type RunningServer } from '../../server/startServer.ts';
import type { Service } from '../../engine/index.ts';
import type { ShellTexts } from '../shellTexts.ts';

/**
 * Shows the same pages in the user's browser, for a computer on which the app's windows stay empty. The
 * engine stays in this process.
 */
export class BrowserMode {
  private readonly service: Service;
  private readonly pageFolder: string;
  private readonly texts: () => ShellTexts;
  private server: RunningServer | undefined;

  constructor(service: Service, pageFolder: string, texts: () => ShellTexts) {
    this.service = service;
    this.pageFolder = pageFolder;
    this.texts = texts;
  }

  get isOn(): boolean {
    return this.server !== undefined;
  }

  /**
   * Opens a page that nobody else on this computer can open: its address holds a token, which is valid for
   * one browser. False if the user gets no page; they have then been told why.
   */
  async open(): Promise<boolean> {
    let server: RunningServer | undefined;
    try {
      server = this.server ?? (await this.start());
      await shell.openExternal(server.address());
    } catch (reason) {
      if (!(await copiesAddress(reason, server?.address(), this.texts()))) {
        if (this.server === undefined) await server?.close();
        return false;
      }
    }
    this.server = server;
    return true;
  }

  private start(): Promise<RunningServer> {
    return startServer(this.service, {
      host: '127.0.0.1',
      port: 0,
      root: homedir(),
      pageFolder: this.pageFolder,
      allowNetwork: false,
      onNewAddress: () => undefined,
    });
  }

  /**
   * Runs at a second start, or a click in the dock, because there is no window to show, and no menu to quit
   * with.
   */
  async ask(): Promise<void> {
    const t = this.texts();
    const answer = await askUser({
      message: t('shell.browser.isOpen'),
      detail: t('shell.browser.isOpenDetail'),
      choices: [
        [t('shell.trouble.browser'), 'open'],
        [t('shell.quit'), 'quit'],
        [t('shell.cancel'), 'cancel'],
      ],
      cancel: 'cancel',
    });
    if (answer === 'open') await this.open();
    else if (answer === 'quit') app.quit();
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}

/**
 * Explains why there is no page. The address, if there is one, also works in a browser that the user opens.
 */
async function copiesAddress(reason: unknown, address: string | undefined, t: ShellTexts): Promise<boolean> {
  const back = [t('shell.browser.back'), false] as const;
  const copies = await askUser<boolean>({
    type: 'error',
    message: t('shell.browser.notOpened'),
    detail: address === undefined ? asAppError(reason).cause : t('shell.browser.paste', { address }),
    choices: address === undefined ? [back] : [[t('shell.browser.copy'), true], back],
    cancel: false,
  });
  if (address === undefined || !copies) return false;
  await clipboard.writeText(address);
  return true;
}
