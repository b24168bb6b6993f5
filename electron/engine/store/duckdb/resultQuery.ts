import { join } from 'node:path';
import type { DuckDBValue } from '@duckdb/node-api';
import { z } from 'zod';
import { type AppFailure, appFailure, usage } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { QUERY_LIMITS, type QueryAnswer, type QueryCell } from '../../../contract/rpc/results.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { float32Text } from '../../results/cellText.ts';
import { chunkColumns, type RunLabels } from '../../results/sequenceRow.ts';
import { isPlainFile } from '../../system/runFiles.ts';
import type { CheckedFiles } from '../checkedFiles.ts';
import { addTable, type DuckDb } from './duckdb.ts';
import { identifier, ONE_FILE, quoted, quotedPath } from './quoted.ts';
import { tooMuch, type QueryQuestion } from './queryProcess.ts';
import type { ResultSource } from './resultSource.ts';

/**
 * Runs the user's SQL query. Both the query and the folder may come from strangers. So the connection is
 * locked before the query is parsed: it reads the run's two files and no others, loads no extension, and
 * accepts no setting; and the query must be one SELECT. A locked connection stays locked, so it answers one
 * query, in a process of its own (queryProcess.ts) that bounds memory and time.
 */
export function resultQuery(folder: string, source: ResultSource, files: CheckedFiles) {
  return async (
    { sql, samples, tables, rows }: QueryQuestion,
    /** Called when the tables are there, and the query itself begins. */
    begins: () => void,
  ): Promise<QueryAnswer> => {
    const duck = await source.duck();
    const { labels: labelsOf, written } = source.facts;
    const labels = labelsOf();
    const { inputs } = labels;
    const readable = [join(folder, RESULT_FILES.results)];
    const chunks = written(RESULT_FILES.chunks);
    if (chunks) {
      await addChunks(folder, duck, labels);
      // Hashing the chunks of ten million sequences takes seconds.
      if (/\bchunks\b/i.test(sql)) {
        if (!(await files.isAsWritten(RESULT_FILES.chunks, chunks)))
          throw appFailure('run_damaged', `${RESULT_FILES.chunks} is not as the run wrote it.`, {
            nextStep: message('run.damaged.next'),
          });
        readable.push(join(folder, RESULT_FILES.chunks));
      }
    }
    await addTable(duck, {
      name: 'samples',
      columns: [
        { name: 'input', type: 'VARCHAR' },
        { name: 'sample', type: 'VARCHAR' },
      ],
      rows: inputs.map((input, i) => [input, samples[i] ?? input]),
    });
    for (const table of tables) await addTable(duck, table);
    await lock(duck, readable);
    begins();
    return answer(duck, sql, rows);
  };
}

/** Adds chunks.tsv as a table. */
async function addChunks(
  folder: string,
  duck: DuckDb,
  labels: Pick<RunLabels, 'looksTwice' | 'isMarked'>,
): Promise<void> {
  const path = join(folder, RESULT_FILES.chunks);
  if (!isPlainFile(path)) return;
  // The plan decides, since DuckDB cannot read a first line without the whole file.
  const types = Object.entries(chunkColumns(labels));
  const columns = types.map(([name, type]) => `${quoted(name)}: ${quoted(type)}`);
  const shown = Object.keys(chunkColumns({ ...labels, isMarked: false })).map((name) =>
    // Every sequence has a name, so one that is read as missing is NA itself.
    name === 'seq_name' ? `coalesce(seq_name, 'NA') AS seq_name` : identifier(name),
  );
  await duck.run(
    `CREATE OR REPLACE VIEW chunks AS SELECT ${shown.join(', ')} FROM read_csv(${quotedPath(path)},
       delim = '\t', header = true, quote = '', escape = '', nullstr = 'NA', auto_detect = false, columns = {${columns.join(', ')}},
       ${ONE_FILE})`,
  );
}

/**
 * The order matters: once access is off, nothing more can be allowed, and once the configuration is locked,
 * nothing can be set.
 */
async function lock(duck: DuckDb, readable: readonly string[]): Promise<void> {
  await duck.run(`SET memory_limit = '${QUERY_LIMITS.memory}'`);
  await duck.run(`SET max_temp_directory_size = '${QUERY_LIMITS.disk}'`);
  await duck.run(`SET max_expression_depth = 250`);
  await duck.run(`SET allowed_paths = [${readable.map(quoted).join(', ')}]`);
  await duck.run('SET enable_external_access = false');
  await duck.run('SET lock_configuration = true');
}

async function answer(duck: DuckDb, sql: string, most: number): Promise<QueryAnswer> {
  const { StatementType } = await import('@duckdb/node-api');
  const { connection } = duck;
  const begun = performance.now();
  try {
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1) throw new Error('Ask one question at a time: a single SELECT.');
    await refuseHarm(duck, sql);
    const prepared = await statements.prepare(0);
    if (prepared.statementType !== StatementType.SELECT)
      throw new Error('Only questions are answered (SELECT): the results of a run are not changed here.');
    const result = await prepared.stream();
    const columns = result
      .deduplicatedColumnNames()
      .map((name, i) => ({ name, type: String(result.columnType(i)) }));
    const rows: QueryCell[][] = [];
    let characters = 0;
    for (
      let chunk = await result.fetchChunk();
      chunk && chunk.rowCount > 0;
      chunk = await result.fetchChunk()
    ) {
      for (let row = 0; row < chunk.rowCount; row++) {
        // Rows are not converted all at once: long texts of a whole chunk would take gigabytes.
        const cells = columns.map(({ type }, i) => cellOf(chunk.getColumnVector(i).getItem(row), type));
        characters += cells.reduce<number>((sum, cell) => sum + String(cell).length, 0);
        if (rows.length === most || characters > QUERY_LIMITS.characters)
          return { columns, rows, isCut: true, milliseconds: performance.now() - begun };
        rows.push(cells);
      }
    }
    return { columns, rows, isCut: false, milliseconds: performance.now() - begun };
  } catch (error) {
    throw refusal(error);
  }
}

/**
 * Functions that read only their arguments, or the names of tables and columns. Others read files, and one
 * can write a log into any file.
 */
const TABLE_FUNCTIONS = /^(range|generate_series|unnest|duckdb_(tables|views|columns|functions))$/i;

/** Refuses what a locked connection would still do. The names are those of DuckDB's own parser. */
async function refuseHarm(duck: DuckDb, sql: string): Promise<void> {
  const [row] = await duck.rows<{ json: string }>(
    `SELECT json_serialize_sql(${quoted(sql)}::VARCHAR) AS json`,
  );
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    if ('error_message' in node) throw new Error(String(node.error_message));
    if ('type' in node && node.type === 'TABLE_FUNCTION' && 'function' in node) {
      const { function_name: name } = z.object({ function_name: z.string() }).parse(node.function);
      if (!TABLE_FUNCTIONS.test(name)) throw new Error(`The function ${name} is not available here.`);
    }
    Object.values(node).forEach(visit);
  };
  visit(parseJson(z.json(), row?.json ?? 'null'));
}

function cellOf(value: DuckDBValue, type: string): QueryCell {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return String(value);
    return type === 'FLOAT' ? Number(float32Text(value)) : value;
  }
  // Dates, lists and structures print themselves as DuckDB does.
  return typeof value === 'string' ? value : value.toString();
}

function refusal(reason: unknown): AppFailure {
  const cause = reason instanceof Error ? reason.message : String(reason);
  if (cause.startsWith('Out of Memory')) return tooMuch('memory');
  return usage(cause.slice(0, 2000), 'Change the query; the examples show the tables and columns.');
}
