import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { APP_PATHS, REAL_PYTHON, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro } from './testing/commandLineProcess.ts';

const BACKEND = join(APP_PATHS.root, 'python-backend');
/** The expected scores are those of FP32; some processors would choose BF16. */
const IN_FP32 = ['--devices', 'cpu', '--precision', 'fp32'];
const TEACHING_MODEL = join(APP_PATHS.resources, 'teaching-model');

/** A folder in the original tool's own formats, with embeddings of the teaching model. */
function makeLegacyFolder(folder: string): void {
  execFileSync(REAL_PYTHON, [join(BACKEND, 'tests', 'legacy', 'made_folders.py'), folder, TEACHING_MODEL], {
    env: { ...process.env, PYTHONPATH: join(BACKEND, 'src') },
  });
}

describe.skipIf(WITHOUT_PYTHON)('import-legacy', () => {
  it('continues an interrupted run of the original tool, and reports what it reused', async () => {
    const parent = temporaryFolder();
    const at = (name: string) => join(parent, name);
    const [legacy, run, other] = [at('legacy'), at('run'), at('other.fa')];
    makeLegacyFolder(legacy);
    const importLegacy = (...words: string[]): string[] => [
      ...['import-legacy', legacy, ...words],
      ...['-o', run, '--model', 'teaching', ...IN_FP32, '--python', REAL_PYTHON],
    ];

    writeFileSync(other, `>other\n${'ACG'.repeat(20)}\n`);
    const refused = await ended(virnucpro(importLegacy(other)));
    expect(refused.code, refused.output).toBe(1);
    expect(refused.output).toContain('It was made from other sequences');

    const output = await succeeds(importLegacy());
    expect(output).toContain('the original VirNucPro');
    expect(output).toContain('Not used: reads_protein/output_2_ESM.pt');
    const { plan } = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as {
      plan: { imported: Record<string, unknown> };
    };
    const expected = scores(join(parent, 'expected.tsv'));
    const { imported } = plan;
    expect(imported).toMatchObject({
      folder: legacy,
      tool: 'original',
      precision: 'unknown',
      frames: expected.size,
      frames_dnabert_s: expected.size,
      files_used: 2,
      files_refused: 1,
    });
    expect(imported['frames_esm2']).toBeGreaterThanOrEqual(50);
    expect(imported['frames_esm2']).toBeLessThan(expected.size);

    const results = scores(join(run, 'prediction_results.txt'));
    expect([...results.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [name, score] of expected) expect(results.get(name), name).toBeCloseTo(score, 4);

    // The even sample reads the frames in another order, and looks each up.
    const sampled = join(parent, 'sampled');
    const reuse = ['--reuse-embeddings', legacy, '--order', 'sample', '--residues-per-part', '800'];
    await succeeds([
      ...['predict', join(legacy, 'reads.fa'), '-o', sampled, ...reuse],
      ...['--model', 'teaching', ...IN_FP32, '--python', REAL_PYTHON],
    ]);
    const inSample = scores(join(sampled, 'prediction_results.txt'));
    expect([...inSample.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [name, score] of expected) expect(inSample.get(name), name).toBeCloseTo(score, 4);

    rmSync(join(legacy, 'reads.fa'));
    const nameless = await ended(virnucpro(importLegacy()));
    expect(nameless.code, nameless.output).toBe(1);
    expect(nameless.output).toContain('virnucpro import-legacy FOLDER FILE');
  });
});

/** Score of the class virus, by the name of the frame, from the last column. */
function scores(path: string): Map<string, number> {
  const rows = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return new Map(
    rows.filter(([name = '']) => name.startsWith('read')).map((row) => [row[0] ?? '', Number(row.at(-1))]),
  );
}
