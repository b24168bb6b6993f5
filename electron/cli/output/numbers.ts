const count = new Intl.NumberFormat('en-US');

export const formatCount = (value: number): string => count.format(value);

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
