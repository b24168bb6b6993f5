/** Keys count from 000000; readers count from 1, and a half of a split part keeps its letter. */
export function partNumber(key: string): string {
  const [number = '0', ...halves] = key.split('.');
  return `${Number(number) + 1}${halves.map((half) => (half === '0' ? 'a' : 'b')).join('')}`;
}
