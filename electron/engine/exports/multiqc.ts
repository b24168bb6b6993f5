import { exportFormat } from './format.ts';
import type { ExportSource } from './exportSource.ts';
import type { WholeFile } from './wholeFile.ts';
import { chunkLengthsText, modelMark } from '../../contract/plan.ts';
import { samplesFound } from './samples.ts';

/** MultiQC's custom content (`*_mqc.json`): a bar for each sample with its calls. */
async function writeMultiqc(source: ExportSource, file: WholeFile): Promise<void> {
  const { plan, state } = source.run;
  const mark = modelMark(plan.model);
  const { items } = await samplesFound(source.store, source.run);
  const content = {
    id: 'virnucpro_calls',
    section_name: 'VirNucPro',
    description:
      `Sequences by call (${plan.model.title}, ${plan.precision}, chunks of ${chunkLengthsText(plan)} bp). ` +
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
  {
    en: ['Calls per sample for MultiQC', 'A bar for each sample of the run (custom content)'],
    de: ['Einstufungen je Probe für MultiQC', 'Ein Balken für jede Probe des Laufs (Custom Content)'],
  },
  ({ source, file }) => writeMultiqc(source, file),
  { ending: '_mqc.json', isOfWholeRun: true },
);
