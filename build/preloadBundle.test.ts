/** Checks what the shipped preload script exposes, and what it needs. */
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { CHANNELS } from '../electron/main/window/channels.ts';
import { PRELOAD_BUNDLE } from './buildDesktop.ts';

let code: string;
beforeAll(async () => {
  const { outputFiles } = await build({ ...PRELOAD_BUNDLE, outdir: '/', write: false });
  code = outputFiles[0]?.text ?? '';
});

/** Runs the bundle like the sandbox: `require` provides nothing except electron. */
function load() {
  const electron = {
    contextBridge: { exposeInMainWorld: vi.fn<(name: string, api: Record<string, unknown>) => void>() },
    ipcRenderer: {
      on: vi.fn<(channel: string, listener: (event: object) => void) => void>(),
      invoke: vi.fn(),
      send: vi.fn(),
    },
    webUtils: { getPathForFile: (file: { path: string }) => file.path },
  };
  const window = { postMessage: vi.fn() };
  const require = (name: string): unknown => {
    if (name === 'electron') return electron;
    throw new Error(`A sandboxed preload script can't require ${name}`);
  };
  runInContext(code, createContext({ require, window, module: {}, exports: {} }));
  return { electron, window };
}

describe('the preload script', () => {
  it('exposes exactly connect and pathForFile, as one name', () => {
    const { electron } = load();
    const exposed = electron.contextBridge.exposeInMainWorld.mock.calls;
    expect(exposed.map(([name, api]) => [name, Object.keys(api).sort()])).toEqual([
      ['virnucpro', ['connect', 'pathForFile']],
    ]);
    expect(Object.values(exposed[0]?.[1] ?? {}).every((value) => typeof value === 'function')).toBe(true);
  });

  it('requests a port from main and passes it to the page, without the event', () => {
    const { electron, window } = load();
    const api = electron.contextBridge.exposeInMainWorld.mock.calls[0]?.[1] as {
      connect: (computer: string) => unknown;
    };
    api.connect('ab12');
    expect(electron.ipcRenderer.invoke).toHaveBeenCalledWith(CHANNELS.connect, 'ab12');
    const [channel, listener] = electron.ipcRenderer.on.mock.calls[0] ?? [];
    expect(channel).toBe(CHANNELS.port);
    const port = {};
    listener?.({ ports: [port], sender: 'ipcRenderer' });
    expect(window.postMessage).toHaveBeenCalledWith({ type: CHANNELS.port }, '/', [port]);
  });

  it('reports dropped files that have a path to main, and no others', () => {
    const { electron } = load();
    const api = electron.contextBridge.exposeInMainWorld.mock.calls[0]?.[1] as {
      pathForFile: (file: object) => string;
    };
    expect(api.pathForFile({ path: '/data/a.fa' })).toBe('/data/a.fa');
    expect(api.pathForFile({ path: '' })).toBe('');
    expect(electron.ipcRenderer.send.mock.calls).toEqual([[CHANNELS.givenPath, '/data/a.fa']]);
  });
});
