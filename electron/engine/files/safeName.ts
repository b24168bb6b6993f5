const RESERVED_ON_WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** A name without anything that means something to a file system or cannot be in a name on Linux, macOS or Windows. */
export function safeName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\\/:*?"<>|]/gu, '_')
    .replace(/^[.\s]+/, '')
    .replace(/[.\s]+$/, '');
  return RESERVED_ON_WINDOWS.test(plain) ? `_${plain}` : plain;
}
