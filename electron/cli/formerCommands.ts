import { usage } from '../contract/errors.ts';
import { toStandardError } from './output/terminal.ts';

/** Commands of earlier versions and of the original tool: the words that mean the same today, or what there is instead. */
const FORMER: Readonly<Record<string, readonly string[] | string>> = {
  benchmark: '"virnucpro check speed" measures every device.',
  command: ['status', '--command'],
  computers: 'The desktop app lists, adds and removes the computers that it reaches by SSH.',
  controls: ['check', 'controls'],
  devices: ['status'],
  profile: 'Batches are sized for each device by themselves.',
  report: ['export', '--format', 'report'],
  selftest: ['check'],
  'utils generate-config': 'Flags choose what that file chose: see "virnucpro predict --help".',
  'utils list-devices': ['status'],
  'utils validate': ['validate'],
  'utils validate-checkpoints': ['status', '--verify'],
  verify: ['status', '--verify'],
};

/** Flags of all commands that are followed by a word. */
const WITH_VALUE = ['--python', '-l', '--log-file', '-c', '--config'];

/** The command line with today's name of its command, and a sentence that says so. */
export function inTodaysNames(argv: readonly string[]): string[] {
  const place = argv.findIndex(
    (word, at) => at > 1 && !word.startsWith('-') && !WITH_VALUE.includes(argv[at - 1] ?? ''),
  );
  const words = argv[place] === 'utils' ? 2 : 1;
  const name = argv.slice(place, place + words).join(' ');
  const today = Object.hasOwn(FORMER, name) ? FORMER[name] : undefined;
  if (today === undefined) return [...argv];
  if (typeof today === 'string') throw usage(`There is no "virnucpro ${name}" any more. ${today}`);
  if (!argv.some((word) => word === '-q' || word === '--quiet'))
    toStandardError(`"${name}" is "${today.join(' ')}" now.`);
  return argv.toSpliced(place, words, ...today);
}
