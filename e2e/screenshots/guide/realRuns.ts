import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { execa } from 'execa';
import { MAIN } from '../../../electron/cli/testing/commandLineProcess.ts';
import type { EngineOptions } from '../../support/engineProcess.ts';
import { goTo } from '../../support/window.ts';

const DATA = join(import.meta.dirname, '..', '..', '..', 'python-backend', 'tests', 'data');
const SAMPLES = ['person_1', 'person_2', 'person_3', 'blank'] as const;
const CONTIGS = 60;
/** The names of the runs, which are those of their folders. */
export const RUNS = {
  done: 'Gut of three people',
  otherChunks: 'Gut, chunks of 300 bp',
  paused: 'Pond water, June',
} as const;

/**
 * Runs of the teaching model over parts of a phage and contigs of a human gut, for the pictures of the guide. Returns
 * a table as geNomad writes them, of the parts of the phage: that tool is not run.
 */
export async function makeRealRuns({ dataFolder, filesFolder }: EngineOptions): Promise<string> {
  const gut = join(filesFolder, 'gut');
  await mkdir(gut);
  const { inputs, phages } = await writeGut(gut);
  const sheet = join(gut, 'samples.csv');
  const lines = SAMPLES.map((name) => `${name}.fasta,${name},${name === 'blank' ? 'yes' : ''}`);
  await writeFile(sheet, `file,sample,control\n${lines.join('\n')}\n`);
  const predict = (name: string, flags: readonly string[], timeout = 0) =>
    execa(
      process.execPath,
      [MAIN, 'predict', ...flags, '--model', 'teaching', '-o', join(filesFolder, 'results', name)],
      {
        ...{ timeout, killSignal: 'SIGINT', forceKillAfterDelay: false },
        env: { VIRNUCPRO_DATA_DIR: dataFolder },
        reject: false,
      },
    );
  const table = join(filesFolder, 'gut_virus_summary.tsv');
  await writeFile(table, genomadTable(phages));
  await predict(RUNS.done, [...inputs, '--samples', sheet]);
  await predict(RUNS.otherChunks, [...inputs.slice(0, SAMPLES.length), '--chunk-length', '300']);
  await predict(RUNS.paused, [join(filesFolder, 'pond_water.fasta'), '--order', 'sample'], 30_000);
  return table;
}

const genomadTable = (names: readonly string[]) =>
  [
    'seq_name\tvirus_score\tn_hallmarks\ttaxonomy',
    ...names.map(
      (name, n) =>
        `${name}\t0.9${(n * 37) % 100}\t${n % 4}\tViruses;Duplodnaviria;Heunggongvirae;Uroviricota`,
    ),
    '',
  ].join('\n');

/** Opens a tab of one of the runs. */
export async function openRun(page: Page, name: string, tab: string): Promise<void> {
  await goTo(page, 'Runs');
  await page.getByRole('grid').getByText(name, { exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.evaluate(`location.hash = location.hash.replace(/[^/]*$/, '${tab}')`);
  await page.mouse.move(0, 0);
}

/** Contigs of four samples, and a file that a download left incomplete. */
async function writeGut(folder: string): Promise<Record<'inputs' | 'phages', string[]>> {
  const phages: string[] = [];
  const letters = await lettersOf('crassphage.fa', 'gut_metagenome_contigs.fa');
  const inputs = await Promise.all(
    SAMPLES.map(async (name, sample) => {
      const made = contigsOf(letters, sample, name === 'blank' ? null : CONTIGS);
      phages.push(...made.phages);
      const path = join(folder, `${name}.fasta`);
      await writeFile(path, made.text);
      return path;
    }),
  );
  const cutOff = join(folder, 'person_4.fasta.gz');
  await writeFile(cutOff, gzipSync(letters[0] ?? '').subarray(0, 9000));
  return { inputs: [...inputs, cutOff], phages };
}

/** Contigs of a sample, and which of them are parts of the phage; null: of a blank. */
function contigsOf([phage = '', ...contigs]: readonly string[], sample: number, count: number | null) {
  const phages: string[] = [];
  const records = Array.from({ length: count ?? 12 }, (_, n) => {
    const length = count === null ? 400 + 90 * n : 400 + ((n * n * 211 + sample * 977) % 4200);
    const isPhage = count === null ? n === 5 : n % (4 + (sample % 5)) === 1;
    const letters = isPhage
      ? phage.slice((n * 1601 + sample * 7919) % (phage.length - length)).slice(0, length)
      : (contigs[(n * 7 + sample * 3) % contigs.length] ?? '').slice((n % 3) * 60);
    const name = `k141_${1000 * (sample + 1) + 7 * n}`;
    if (isPhage && n % 5 > 0) phages.push(name);
    return `>${name} flag=1 len=${letters.length}\n${letters}\n`;
  });
  return { text: records.join(''), phages };
}

async function lettersOf(...names: string[]): Promise<string[]> {
  const texts = await Promise.all(names.map((name) => readFile(join(DATA, name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .split(/^>.*$/m)
      .slice(1)
      .map((record) => record.replaceAll('\n', '')),
  );
}
