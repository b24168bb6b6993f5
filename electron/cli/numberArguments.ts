import { InvalidArgumentError } from 'commander';
import { parseGoal, type Goal } from '../contract/goal.ts';

/** The argument of `--until`: settled, 0.5%, 30min; `end` for none. */
export function goalArgument(text: string): Goal | null {
  const goal = parseGoal(text);
  if (goal === null && text !== 'end')
    throw new InvalidArgumentError(
      'Write settled, a half width such as 0.5%, a time such as 30min or 8h, or end.',
    );
  return goal;
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new InvalidArgumentError('Write a whole number above 0.');
  return value;
}

/** Parses an amount in GB into bytes. */
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
