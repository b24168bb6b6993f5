const count = new Intl.NumberFormat('en-US');

export const formatCount = (value: number): string => count.format(value);

export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[unit] ?? ''}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function formatRange(range: { low: number; high: number }): string {
  const low = formatSeconds(range.low);
  const high = formatSeconds(range.high);
  return low === high ? `about ${low}` : `${low} to ${high}`;
}
