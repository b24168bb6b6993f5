/**
 * The queries of a window about a finished run, as `npm run bench -- window` measures them: in a fresh process, so that its memory is
 * that of these queries. `benchResults.ts [SEQUENCES] [FOLDER]` keeps the made-up results in the folder.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SequenceSort } from '../../../contract/columns.ts';
import type { SequenceFilter } from '../../../contract/rpc/results.ts';
import { sequenceQueryMethods } from '../duckdb/sequenceQueries.ts';
import type { ResultFileDigest } from '../types.ts';
import { madeUpResults, writeMadeUpResults } from './madeUpResults.ts';

const LIMITS = { milliseconds: 500, bytes: 400e6 } as const;
/** What the window asks for while it is scrolled. */
const PAGE_ROWS = 300;

const [count = '10000000', kept, asked] = process.argv.slice(2);
const sequences = Number(count);
const folder = kept ?? mkdtempSync(join(tmpdir(), 'virnucpro-bench-'));
const digest = join(folder, 'digest.json');

async function measure(): Promise<void> {
  const written = JSON.parse(readFileSync(digest, 'utf8')) as ResultFileDigest;
  const source = madeUpResults(folder, sequences, written);
  const queries = sequenceQueryMethods(source);
  const question = async (what: string, ask: () => Promise<unknown>): Promise<void> => {
    const [begun, before] = [performance.now(), process.cpuUsage()];
    await ask();
    const milliseconds = performance.now() - begun;
    const { user, system } = process.cpuUsage(before);
    const peak = process.resourceUsage().maxRSS * 1024;
    const isMet = milliseconds <= LIMITS.milliseconds && peak <= LIMITS.bytes;
    if (!isMet) process.exitCode = 1;
    process.stdout.write(
      `${isMet ? 'ok    ' : 'MISSED'} ${what}: ${milliseconds.toFixed(0)} ms (limit ${LIMITS.milliseconds} ms), ` +
        `of the processor ${((user + system) / 1000).toFixed(0)} ms; so far ${(peak / 1e6).toFixed(0)} MB\n`,
    );
  };
  const by = (column: SequenceSort['by'], descending = true): SequenceSort => ({ by: column, descending });
  const page = (filter: SequenceFilter, sort: SequenceSort, share = 0) =>
    queries.findSequences({ filter }, sort, Math.floor(share * sequences), PAGE_ROWS);
  const [score, name] = [by('virusScore'), by('seqName', false)];
  const virus: SequenceFilter = { predictions: ['virus'] };
  await question('open', async () => source.derive(0));
  await question('first page', () => page({}, score));
  await question('counts', () => queries.countPredictions({ filter: {} }));
  await question('columns with values', () => queries.columnsWithValues({ filter: {} }));
  await question('histogram', () => queries.scoreBins({ filter: {} }, 100));
  await question('sort by name', () => page({}, name));
  await question('sort by length', () => page({}, by('length')));
  await question('sort by evidence', () => page({}, by('evidence')));
  await question('filter: virus', () => page(virus, score));
  await question('filter: header has 9999', () => page({ search: '9999' }, score));
  await question('filter: 1,000 bp or more, by name', () => page({ minLength: 1000 }, name));
  await question('far page in the order of the run', () => page({}, by('row', false), 0.9));
  await question('far page by score', () => page({}, score, 0.6));
  await question('the next page by score', () => page({}, score, 0.6 + PAGE_ROWS / sequences));
  await question('far page by length', () => page({}, by('length'), 0.9));
  await question('far page of viruses by score', () => page(virus, score, 0.1));
  await question('far page by name', () => page({}, name, 0.9));
  await question('far page by header', () => page({}, by('header', false), 0.9));
  await source.close();
}

if (asked !== undefined) await measure();
else
  try {
    if (!existsSync(digest))
      writeFileSync(digest, JSON.stringify(await writeMadeUpResults(folder, sequences)));
    const again = [fileURLToPath(import.meta.url), count, folder, 'ask'];
    process.exitCode = spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1;
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true });
  }
