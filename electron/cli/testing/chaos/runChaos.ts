/** `npm run test:chaos -- [kills] [seed]`: disturbs runs of the command line with real workers, and counts what became of each. */
import { WITHOUT_PYTHON } from '../../../engine/testing/realFiles.ts';
import { chaos } from './chaos.ts';

// So that what is mounted is unmounted on the way out.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
const kills = Number(process.argv[2] ?? 50);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
if (WITHOUT_PYTHON !== undefined || process.platform !== 'linux') {
  process.stderr.write(`Not run: ${WITHOUT_PYTHON ?? 'it reads what Linux says of processes'}\n`);
  process.exit(1);
}
process.stdout.write(`${kills} kills, seed ${seed}\n`);
const begun = performance.now();
const figures = await chaos({
  seed,
  until: { kills },
  onTrial: (line, soFar) => process.stdout.write(`${line} (${soFar.kills} kills in all)\n`),
});
const minutes = Math.round((performance.now() - begun) / 60_000);
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${minutes} minutes\n`);
const { lost, doubled, changed, hung, orphans, leftovers, faults } = figures;
process.exitCode = lost + doubled + changed + hung + orphans + leftovers + faults.length > 0 ? 1 : 0;
