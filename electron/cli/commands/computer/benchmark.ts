import { unwrap } from '../../../contract/result.ts';
import { benchmarkDevices, formatCount, probeDevices, type EngineContext } from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';

/** How fast is each device? A line for each batch size, or with --json all of it, to send in. */
export async function benchmark(context: EngineContext, seconds: number, json: boolean): Promise<number> {
  const { environment, paths } = context;
  const probe = unwrap(await probeDevices(environment));
  const onDevice = (name: string) => {
    toStandardError(`${name} is measured for about ${seconds} s ...`);
  };
  const measured = await benchmarkDevices(environment, paths, probe, seconds, { onDevice });
  toStandardOutput(
    json
      ? JSON.stringify(measured)
      : measured
          .flatMap(({ name, report, problem }) => [
            `${name}${report ? `, ${report.precision.toUpperCase()}` : `: ${problem ?? ''}`}`,
            ...(report?.rows ?? []).map(
              (row) =>
                `  batches of ${formatCount(row.tokens_per_batch)} tokens: ` +
                `ESM-2 ${formatCount(Math.round(row.esm2_residues_per_second))} residues/s ` +
                `(its matrix products alone ${formatCount(Math.round(row.products_residues_per_second))}), ` +
                `DNABERT-S ${formatCount(Math.round(row.dnabert_s_frames_per_second))} frames/s`,
            ),
          ])
          .join('\n'),
  );
  return measured.every(({ problem }) => problem === null) ? EXIT.done : EXIT.failed;
}
