import { app, dialog, shell } from 'electron';
import { homedir } from 'node:os';
import { startServer, type RunningServer } from '../../server/startServer.ts';
import type { Service } from '../../engine/index.ts';

/** The same pages in the user's browser, for a computer whose own windows stay empty. The engine stays in this process. */
export class BrowserMode {
  private readonly service: Service;
  private readonly pageFolder: string;
  private server: RunningServer | undefined;

  constructor(service: Service, pageFolder: string) {
    this.service = service;
    this.pageFolder = pageFolder;
  }

  get isOn(): boolean {
    return this.server !== undefined;
  }

  /** A page that nobody else on this computer can open: its address holds a token, which is good for one browser. */
  async open(): Promise<void> {
    this.server ??= await startServer(this.service, {
      host: '127.0.0.1',
      port: 0,
      root: homedir(),
      pageFolder: this.pageFolder,
      allowNetwork: false,
      onNewAddress: () => undefined,
    });
    await shell.openExternal(this.server.address());
  }

  /** A second start, or a click in the dock: there is no window to show, and no menu to quit with. */
  async ask(): Promise<void> {
    const { response } = await dialog.showMessageBox({
      type: 'question',
      message: 'VirNucPro Desktop is open in the browser.',
      detail: 'Its own window could not be shown. To quit, start the program again and choose Quit here.',
      buttons: ['Open in the browser', 'Quit', 'Cancel'],
      defaultId: 0,
      cancelId: 2,
      noLink: true,
    });
    if (response === 0) await this.open();
    else if (response === 1) app.quit();
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}
