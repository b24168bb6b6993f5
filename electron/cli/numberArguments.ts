import { InvalidArgumentError } from 'commander';

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new InvalidArgumentError('Write a whole number above 0.');
  return value;
}

/** An amount in GB, as bytes. */
export function gigabytes(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('Write a number of GB above 0.');
  return Math.round(value * 1e9);
}

export function portNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('Write a port number from 0 to 65535.');
  }
  return value;
}
