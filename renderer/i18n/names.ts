/** The last component of a path, whichever system it comes from. */
export const fileName = (path: string) => path.split(/[\\/]/).at(-1) ?? path;
export const folderOf = (path: string) => path.slice(0, Math.max(0, path.length - fileName(path).length - 1));

/** Keys count from 000000; readers count from 1. One half of a split part keeps its letter. */
export function partNumber(key: string): string {
  const [number = '0', ...halves] = key.split('.');
  return `${Number(number) + 1}${halves.map((half) => (half === '0' ? 'a' : 'b')).join('')}`;
}

/** A model's notice, such as "teaching model, not for research", as a sentence of its own. */
export const asSentence = (text: string) =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
