/**
 * Code that runs inside the page. The preload script has its own world (tutorial/context-isolation), so it
 * shares the page's DOM but none of its objects; both worlds are real here, since DevTools can run scripts in
 * isolated worlds. Only events of the window pass between the worlds, and Chromium clones their details as it
 * does for extensions.
 */

export const PRELOAD_WORLD = 'Electron Isolated Context';
/** Exists in the preload script's world only. */
export const BINDING = 'toStandIn';

/**
 * Runs in the page's world before its own scripts, and receives what the context bridge exposes
 * (api/context-bridge).
 */
export const PAGE_SIDE = `(() => {
  const settlers = new Map();
  const call = (name, key, args) => {
    let answer;
    const take = (event) => (answer = event.detail);
    addEventListener('bridge-answer', take);
    dispatchEvent(new CustomEvent('bridge-call', { detail: { name, key, args } }));
    removeEventListener('bridge-answer', take);
    if (answer.error !== undefined) throw new Error(answer.error);
    if (answer.promise === undefined) return answer.value;
    return new Promise((resolve, reject) => settlers.set(answer.promise, { resolve, reject }));
  };
  addEventListener('bridge-settle', ({ detail }) => {
    const settler = settlers.get(detail.promise);
    settlers.delete(detail.promise);
    if (detail.error === undefined) settler.resolve(detail.value);
    else settler.reject(new Error(detail.error));
  });
  addEventListener('bridge-expose', ({ detail: { name, keys } }) => {
    const api = Object.fromEntries(keys.map((key) => [key, (...args) => call(name, key, args)]));
    // "Cannot bind an API on top of an existing property", and what is exposed is frozen.
    Object.defineProperty(window, name, { value: Object.freeze(api), enumerable: true });
  });
})();`;

/**
 * Runs in the isolated world: `require('electron')` of a sandboxed preload script (tutorial/sandbox), then
 * the script itself.
 */
export function preloadSide(preload: string): string {
  return `(() => {
  const send = (message) => ${BINDING}(JSON.stringify(message));
  const listeners = new Map();
  const calls = new Map();
  const ports = new Map();
  let lastId = 0;
  const packed = (data) => {
    if (!(data instanceof ArrayBuffer || ArrayBuffer.isView(data))) return { json: data };
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { bytes: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')) };
  };
  const unpacked = ({ json, bytes }) =>
    bytes === undefined ? json : Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));

  globalThis.fromStandIn = (message) => {
    switch (message.type) {
      case 'answer': {
        const { resolve, reject } = calls.get(message.id);
        calls.delete(message.id);
        if (message.error === undefined) resolve(message.value);
        else reject(new Error(message.error));
        break;
      }
      case 'message': {
        const given = message.ports.map((id) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = ({ data }) => send({ type: 'port-data', port: id, data: packed(data) });
          port1.addEventListener('close', () => send({ type: 'port-close', port: id }));
          ports.set(id, port1);
          return port2;
        });
        const event = { sender: ipcRenderer, ports: given };
        for (const listener of listeners.get(message.channel) ?? []) listener(event, ...message.args);
        break;
      }
      case 'port-data':
        ports.get(message.port)?.postMessage(unpacked(message.data));
        break;
      case 'port-close':
        ports.get(message.port)?.close();
        ports.delete(message.port);
        break;
    }
  };

  const ipcRenderer = {
    on: (channel, listener) => listeners.set(channel, [...(listeners.get(channel) ?? []), listener]),
    send: (channel, ...args) => send({ type: 'send', channel, args }),
    invoke: (channel, ...args) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        calls.set(id, { resolve, reject });
        send({ type: 'invoke', id, channel, args });
      }),
  };

  const exposed = new Map();
  const answer = (detail) => dispatchEvent(new CustomEvent('bridge-answer', { detail }));
  addEventListener('bridge-call', ({ detail: { name, key, args } }) => {
    try {
      const value = exposed.get(name)[key](...args);
      if (typeof value?.then !== 'function') return void answer({ value });
      const promise = ++lastId;
      answer({ promise });
      const settle = (detail) => dispatchEvent(new CustomEvent('bridge-settle', { detail: { promise, ...detail } }));
      value.then((value) => settle({ value }), (reason) => settle({ error: String(reason?.message ?? reason) }));
    } catch (reason) {
      answer({ error: String(reason?.message ?? reason) });
    }
  });
  const contextBridge = {
    exposeInMainWorld: (name, api) => {
      exposed.set(name, api);
      dispatchEvent(new CustomEvent('bridge-expose', { detail: { name, keys: Object.keys(api) } }));
    },
  };

  const webUtils = {
    // Answers at once, so the path is put in from outside while the script stands still.
    getPathForFile: function pathFromDisk(file) {
      let path = '';
      debugger;
      return path;
    },
  };

  // "The require function is a polyfill with limited functionality", of electron and few others.
  const require = (name) => {
    if (name !== 'electron') throw new Error('module not found: ' + name);
    return { contextBridge, ipcRenderer, webUtils };
  };
  const module = { exports: {} };
  ((require, module, exports) => {
${preload}
  })(require, module, module.exports);
})();`;
}
