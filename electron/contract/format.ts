import { memoryText } from './deviceFigures.ts';
import { shownScore } from './results.ts';

/** Formats numbers, sizes, times and dates for the reader's language. */
export interface Formats {
  readonly integer: (value: number) => string;
  readonly decimal: (value: number, digits?: number) => string;
  /** A score from 0 to 1, always with the same number of digits so that columns line up, and never rounded across 0.5. */
  readonly score: (value: number) => string;
  readonly percent: (fraction: number, digits?: number) => string;
  /** Large counts in few characters: 12.3K, 4.5M. */
  readonly compact: (value: number) => string;
  /** Speeds with three significant digits: 41,200, 245, 32.0. */
  readonly rate: (value: number) => string;
  /** File and disk sizes, in decimal units as file managers show them. */
  readonly fileSize: (bytes: number) => string;
  readonly memory: (bytes: number) => string;
  readonly bases: (count: number) => string;
  /** A fraction done, with the same digits everywhere, so that two places never seem to disagree. */
  readonly progress: (fraction: number) => string;
  /** Durations in their two largest useful units: 2 hr, 5 min, 45 sec. */
  readonly duration: (seconds: number) => string;
  /** Seconds with one decimal, for short durations. */
  readonly seconds: (value: number) => string;
  readonly durationRange: (low: number, high: number) => string;
  readonly dateTime: (iso: string) => string;
  readonly date: (iso: string) => string;
  readonly time: (iso: string) => string;
  readonly list: (items: readonly string[]) => string;
}

const FILE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const BASE_UNITS = ['bp', 'bp', 'Mbp', 'Gbp', 'Tbp'] as const;

/** Makes a value when it is first used: all formats at once take a twentieth of the command line's start. */
function onceAsked<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

export function createFormats(locale: string): Formats {
  const numbers = (options: Intl.NumberFormatOptions) => {
    const format = onceAsked(() => new Intl.NumberFormat(locale, options));
    return (value: number) => format().format(value);
  };
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const format = onceAsked(() => new Intl.DateTimeFormat(locale, options));
    return (iso: string) => format().format(new Date(iso));
  };
  const integer = numbers({ maximumFractionDigits: 0 });
  const fourDigits = numbers({ minimumFractionDigits: 4, maximumFractionDigits: 4 });
  const score = (value: number) => fourDigits(shownScore(value));
  const compact = numbers({ notation: 'compact', maximumSignificantDigits: 3, useGrouping: 'always' });
  const rate = numbers({
    minimumSignificantDigits: 3,
    maximumSignificantDigits: 3,
  });
  const threeDigits = numbers({ maximumSignificantDigits: 3 });
  const oneDigit = numbers({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const decimals = [0, 1, 2, 3].map((digits) =>
    numbers({ minimumFractionDigits: digits, maximumFractionDigits: digits }),
  );
  const percents = [0, 1, 2].map((digits) =>
    numbers({ style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }),
  );
  // The short form of the unit "byte" has no plural: "404 byte".
  const sizes = FILE_UNITS.map((unit) =>
    numbers({
      style: 'unit',
      unit,
      unitDisplay: unit === 'byte' ? 'long' : 'short',
      maximumSignificantDigits: 3,
    }),
  );
  // American English writes "5 min", but British English writes "5 mins", which reads badly in a range.
  const unitLocale = locale.startsWith('en') ? 'en-US' : locale;
  const durations = (secondsDisplay: 'auto' | 'always') =>
    onceAsked(() => new Intl.DurationFormat(unitLocale, { style: 'short', secondsDisplay }));
  const [durationFormat, zeroSeconds] = [durations('auto'), durations('always')];
  const inUnit = (unit: string, minimumFractionDigits: number) =>
    onceAsked(
      () =>
        new Intl.NumberFormat(unitLocale, {
          ...{ style: 'unit', unit, unitDisplay: 'short', minimumFractionDigits, maximumFractionDigits: 1 },
        }),
    );
  const ranges = ['second', 'minute', 'hour', 'day'].map((unit) => inUnit(unit, 0));
  const tenths = inUnit('second', 1);
  const listFormat = onceAsked(() => new Intl.ListFormat(locale, { type: 'conjunction' }));

  const scaled = (value: number) => {
    let power = 0;
    let rest = value;
    while (rest >= 999.5 && power < FILE_UNITS.length - 1) {
      rest /= 1000;
      power += 1;
    }
    return { rest, power };
  };
  const percent = (fraction: number, digits = 0) => (percents[digits] ?? integer)(fraction);
  const duration = (seconds: number) =>
    (seconds < 0.5 ? zeroSeconds : durationFormat)().format(splitDuration(seconds));

  return {
    integer,
    score,
    compact,
    rate,
    decimal: (value, digits = 1) => (decimals[digits] ?? oneDigit)(value),
    percent,
    progress: (fraction) => percent(fraction, fraction < 1 ? 1 : 0),
    fileSize(bytes) {
      const { rest, power } = scaled(bytes);
      return (sizes[power] ?? integer)(rest);
    },
    memory: (bytes) => memoryText(bytes, { integer, decimal: oneDigit, of: (part) => part }),
    bases(count) {
      const { rest, power } = scaled(count);
      return `${power < 2 ? integer(count) : threeDigits(rest)} ${BASE_UNITS[power] ?? 'bp'}`;
    },
    duration,
    seconds: (value) => tenths().format(value),
    durationRange(low, high) {
      const { unit, seconds, step } = rangeUnit(high);
      const round = (value: number) => Math.max(step, Math.round(value / seconds / step) * step);
      const [from, to] = [round(low), round(high)];
      // If both ends are equal, the formatter would write "~5 min" after our own "about".
      return (
        (from === to ? ranges[unit]?.().format(to) : ranges[unit]?.().formatRange(from, to)) ?? duration(high)
      );
    },
    dateTime: dates({ dateStyle: 'medium', timeStyle: 'short' }),
    date: dates({ dateStyle: 'medium' }),
    time: dates({ timeStyle: 'medium' }),
    list: (items) => listFormat().format(items),
  };
}

/** Splits a duration into days and hours, hours and minutes, or minutes and seconds: never more than two units. */
export function splitDuration(
  seconds: number,
): Partial<Record<'days' | 'hours' | 'minutes' | 'seconds', number>> {
  const whole = Math.max(0, Math.round(seconds));
  const days = Math.floor(whole / 86_400);
  const hours = Math.floor(whole / 3600) % 24;
  const minutes = Math.floor(whole / 60) % 60;
  if (days > 0) return { days, hours, minutes: 0, seconds: 0 };
  if (hours > 0) return { days: 0, hours, minutes, seconds: 0 };
  if (minutes > 0) return { days: 0, hours: 0, minutes, seconds: whole % 60 };
  return { seconds: whole };
}

/** The unit for both ends of an estimate, and the step to which they are rounded: an estimate deserves few digits. */
function rangeUnit(high: number): { unit: 0 | 1 | 2 | 3; seconds: number; step: number } {
  if (high < 90) return { unit: 0, seconds: 1, step: 5 };
  if (high < 2 * 3600) return { unit: 1, seconds: 60, step: 1 };
  if (high < 48 * 3600) return { unit: 2, seconds: 3600, step: 0.5 };
  return { unit: 3, seconds: 86_400, step: 0.5 };
}
