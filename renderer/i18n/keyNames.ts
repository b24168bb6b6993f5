const IS_MAC = /Mac|iP(hone|ad)/.test(navigator.platform);
const NAMES: Readonly<Record<string, string>> = IS_MAC
  ? { mod: '⌘', alt: '⌥', shift: '⇧' }
  : { mod: 'Ctrl', alt: 'Alt', shift: 'Shift' };

/** Writes alt+shift+1 as it is printed on the keyboard: Alt+Shift+1. */
export const keyNames = (keys: string) =>
  keys
    .split('+')
    .map((key) => NAMES[key] ?? key.toUpperCase())
    .join('+');
