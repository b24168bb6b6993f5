import { app, clipboard, shell } from 'electron';
import { homedir } from 'node:os';
import { asAppError } from '../../contract/errors.ts';
import { askUser } from '../askUser.ts';
import { startServer, type RunningServer } from '../../server/startServer.ts';
import type { Service } from '../../engine/index.ts';
import type { Words } from '../words.ts';

/**
 * Shows the same pages in the user's browser, for a computer on which the app's windows stay empty. The
 * engine stays in this process.
 */
export class BrowserMode {
  private readonly service: Service;
  private readonly pageFolder: string;
  private readonly words: () => Words;
  private server: RunningServer | undefined;

  constructor(service: Service, pageFolder: string, words: () => Words) {
    this.service = service;
    this.pageFolder = pageFolder;
    this.words = words;
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
      if (!(await copiesAddress(reason, server?.address(), this.words().browser))) {
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
    const { browser, trouble, quit, cancel } = this.words();
    const answer = await askUser({
      message: browser.isOpen,
      detail: browser.isOpenDetail,
      choices: [
        [trouble.browser, 'open'],
        [quit, 'quit'],
        [cancel, 'cancel'],
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
async function copiesAddress(
  reason: unknown,
  address: string | undefined,
  words: Words['browser'],
): Promise<boolean> {
  const back = [words.back, false] as const;
  const copies = await askUser<boolean>({
    type: 'error',
    message: words.notOpened,
    detail: address === undefined ? asAppError(reason).cause : words.paste(address),
    choices: address === undefined ? [back] : [[words.copy, true], back],
    cancel: false,
  });
  if (address === undefined || !copies) return false;
  await clipboard.writeText(address);
  return true;
}
