const RESERVED_ON_WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Removes characters with a special meaning to a file system, and those that Linux, macOS or Windows do not
 * allow in a name.
 */
export function safeName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\\/:*?"<>|]/gu, '_')
    .replace(/^[.\s]+/, '')
    .replace(/[.\s]+$/, '');
  return RESERVED_ON_WINDOWS.test(plain) ? `_${plain}` : plain;
}
