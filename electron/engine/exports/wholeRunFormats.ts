import { exportFormat } from './format.ts';
import type { DeviceSampleRow, RunTimings } from '../store/types.ts';
import type { ExportSource } from './exportSource.ts';
import type { WholeFile } from './wholeFile.ts';
import { modelMark } from '../../contract/plan.ts';
import { samplesFound } from './samples.ts';

const COLUMNS = [
  'time',
  'device',
  'name',
  'utilization_percent',
  'memory_used_bytes',
  'power_w',
  'temperature_c',
  'residues_per_second',
  'frames_per_second',
];
/** A run of several weeks has millions of samples, so they are read in slices. */
const SLICE_MS = 6 * 3_600_000;

/**
 * Writes the measurements of each device, second by second, as CSV in the same format for every language, for
 * scripts.
 */
async function writeMeasurements(source: ExportSource, file: WholeFile): Promise<void> {
  const { store, run } = source;
  const slices = slicesOf(await store.timings());
  await file.write(`${COLUMNS.join(',')}\n`);
  for (const { id, name } of run.devices) {
    for (const [from, to] of slices) {
      source.signal?.throwIfAborted();
      const lines = (await store.samples(id, from, to)).map((sample) => line(name, sample));
      if (lines.length > 0) await file.write(lines.join(''));
    }
  }
}

/**
 * Both ends included. The first and the last slice also hold samples outside of the run's time, from a clock
 * that was set.
 */
function slicesOf({ createdAt, lastChangeAt }: RunTimings): [number, number][] {
  const slices: [number, number][] = [];
  let from = 0;
  for (let end = createdAt; end < lastChangeAt; end += SLICE_MS) {
    slices.push([from, end]);
    from = end + 1;
  }
  return [...slices, [from, Number.MAX_SAFE_INTEGER]];
}

function line(name: string, sample: DeviceSampleRow): string {
  const cells = [
    new Date(sample.time).toISOString(),
    sample.device,
    `"${name.replaceAll('"', '""')}"`,
    sample.utilizationPercent,
    sample.memoryUsedBytes,
    sample.powerW,
    sample.temperatureC,
    sample.residuesPerSecond,
    sample.framesPerSecond,
  ];
  return `${cells.map((cell) => cell ?? '').join(',')}\n`;
}

export const devices = exportFormat(
  'devices',
  'summaries',
  {
    en: [
      'What was measured of the devices (CSV)',
      'Load, memory, power, temperature and speed of every second, whatever is selected',
    ],
    de: [
      'Messwerte der Geräte (CSV)',
      'Last, Speicher, Leistung, Temperatur und Tempo jeder Sekunde, gleich was gewählt ist',
    ],
  },
  ({ source, file }) => writeMeasurements(source, file),
  { ending: '_devices.csv', isOfWholeRun: true },
);

/** MultiQC's custom content (`*_mqc.json`): a bar for each sample with its calls. */
async function writeMultiqc(source: ExportSource, file: WholeFile): Promise<void> {
  const { plan, state } = source.run;
  const mark = modelMark(plan.model);
  const { items } = await samplesFound(source.store, source.run);
  const content = {
    id: 'virnucpro_calls',
    section_name: 'VirNucPro',
    description:
      `Sequences by call (${plan.model.title}, ${plan.precision}, chunks of ${plan.chunkLength} bp). ` +
      'Not scored does not mean not viral.' +
      (state.phase === 'done' ? '' : ' Provisional: the run was not done.') +
      (mark === null ? '' : ` ${mark}.`),
    plot_type: 'bargraph',
    pconfig: { id: 'virnucpro_calls_plot', title: 'VirNucPro: sequences by call', ylab: 'Sequences' },
    categories: {
      virus: { name: 'Virus', color: '#d55e00' },
      others: { name: 'Other', color: '#0072b2' },
      not_scored: { name: 'Not scored', color: '#999999' },
      failed: { name: 'Failed', color: '#000000' },
    },
    data: Object.fromEntries(items.map(({ sample, byPrediction }) => [sample, byPrediction])),
  };
  await file.write(`${JSON.stringify(content, null, 2)}\n`);
}

export const multiqc = exportFormat(
  'multiqc',
  'summaries',
  {
    en: ['Calls per sample for MultiQC', 'A bar for each sample of the run (custom content)'],
    de: ['Einstufungen je Probe für MultiQC', 'Ein Balken für jede Probe des Laufs (Custom Content)'],
  },
  ({ source, file }) => writeMultiqc(source, file),
  { ending: '_mqc.json', isOfWholeRun: true },
);
