/**
 * `npm run test:chaos -- [kills] [seed] [words]`: disturbs runs of the command line with real workers, and counts what became of
 * each; with words, only by the disturbances whose names contain them, such as "killed".
 */
import { WITHOUT_PYTHON } from '../../../engine/testing/realFiles.ts';
import { chaos, type ChaosFigures } from './chaos.ts';

const kills = Number(process.argv[2] ?? 50);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const words = process.argv[4];
if (WITHOUT_PYTHON !== undefined || process.platform !== 'linux') {
  process.stderr.write(`Not run: ${WITHOUT_PYTHON ?? 'it reads what Linux says of processes'}\n`);
  process.exit(1);
}
process.stdout.write(`${kills} kills, seed ${seed}${words === undefined ? '' : `, "${words}" only`}\n`);
const begun = performance.now();
let figures: ChaosFigures | undefined;
process.once('exit', () => {
  const minutes = Math.round((performance.now() - begun) / 60_000);
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${minutes} minutes\n`);
});
// So that the figures so far are printed, and what is mounted is unmounted on the way out.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
await chaos({
  seed,
  until: words === undefined ? { kills } : { kills, words },
  onTrial: (line, soFar) => {
    figures = soFar;
    process.stdout.write(`${line} (${soFar.kills} kills in all)\n`);
  },
});
process.exitCode = figures && isSound(figures) ? 0 : 1;

function isSound({ lost, doubled, changed, hung, orphans, leftovers, faults }: ChaosFigures): boolean {
  return lost + doubled + changed + hung + orphans + leftovers + faults.length === 0;
}
