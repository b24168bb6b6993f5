import type { SequenceResult } from '../../../contract/columns.ts';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { CITATIONS } from '../../../contract/exports.ts';
import type { normBandsSchema } from '../../../contract/model.ts';
import { ribbonPaths } from '../../../contract/ribbon.ts';
import { NO_DETAILS } from '../../../contract/samples.ts';
import type { StoredRun } from '../../store/types.ts';
import { DESCRIPTION, syntheticPlan } from '../../store/testing/syntheticRun.ts';
import type { ReportFacts } from './reportFacts.ts';
import { reportHtml } from './writeReport.ts';

type NormBands = z.infer<typeof normBandsSchema>;

const NAME = '<script>alert("x")</script>';

const FOUND = {
  sequences: 100,
  byPrediction: { virus: 25, others: 50, not_scored: 25, failed: 0 },
  bases: 10_000,
};

function factsOf(notice: string | null): ReportFacts {
  const plan = syntheticPlan(2);
  plan.model = { ...plan.model, title: '500-bp model', notice };
  const inputs = plan.inputs.map((input, number) => ({
    ...input,
    input: number,
    prepared: { records: 50, bases: 5000, firstRow: 50 * number },
  }));
  const run = {
    description: { ...DESCRIPTION, name: NAME },
    plan,
    inputs,
    leftOut: [],
    devices: [],
    problems: [],
    state: { phase: 'done', failedParts: 0, failedRecords: 0 },
  } as unknown as StoredRun;
  return {
    run,
    enough: null,
    timings: { createdAt: 0, startedAt: 1000, lastChangeAt: 90_000, workingMilliseconds: 65_000 },
    found: {
      names: ['gut', 'gut'],
      items: [{ ...NO_DETAILS, sample: 'gut', inputs: [0, 1], ...FOUND }],
      all: FOUND,
      outsideControls: FOUND,
      inControls: null,
      strong: 0,
    },
    inputNames: ['reads_0.fasta', 'reads_1.fasta'],
    scores: { virus: [0, 25], others: [50, 0] },
    lengths: [{ from: 0, to: 300, virus: 25, others: 50, not_scored: 7 }],
    top: [],
    topOf: 'virus',
    ribbons: [],
    topTotal: 0,
    others: [],
    versions: { app: '0.1.0', torch: '2.13.0', backend: null },
  };
}

const pageOf = (facts: ReportFacts, language: 'en' | 'de' = 'en') => reportHtml(facts, language, new Date(0));

const hit = (input: number) =>
  ({
    ...{ row: 3, seqName: 'contig_4', input, length: 5000, tooShort: false, virusScore: 0.99 },
    ...{ evidence: 'strong', nChunks: 9, nChunksScored: 9, nChunksViral: 9, terminalRepeat: null },
  }) as SequenceResult;

describe('the report', () => {
  it('names on its first page the files left out, damaged records with their lines, and pairs that do not fit', () => {
    const facts = factsOf(null);
    const values = { reason: '<header>' };
    facts.run.leftOut = [{ path: '/data/list.xlsx', code: 'input_damaged', values }];
    const problem = { type: 'input_problem' as const, input: 1, values: {}, examples: [] };
    facts.run.problems = [
      {
        ...problem,
        code: 'malformed_record',
        count: 7,
        examples: [{ row: 3, name: 'read_4', detail: 'line 13: <no quality line>' }],
      },
      {
        ...problem,
        code: 'mates_disagree',
        count: 1,
        values: { file: 'reads_1.fasta', other: 'reads_0.fasta', read: '25' },
      },
      { ...problem, code: 'lower_case', count: 99 },
    ];
    const [firstPage = ''] = pageOf(facts).split('<main>');
    expect(firstPage).toMatch(/1 of 3 files.*list\.xlsx<\/strong>: It cannot be unpacked.*&lt;header&gt;/s);
    expect(firstPage).toMatch(
      /Damaged or incomplete records: 7\..*read_4: line 13: &lt;no quality line&gt;/s,
    );
    expect(firstPage).toContain('disagree from read 25 on');
    expect(firstPage).not.toContain('lower-case');
  });

  it('says of a run that stopped at its goal which share the whole would show, and how many calls stand', () => {
    const known = {
      sample: 'gut',
      control: false,
      unit: 'chunks',
      viral: 20,
      scored: 90,
      total: 400,
      estimate: { share: 0.22, low: 0.15, high: 0.31 },
    } as const;
    const enough = {
      shares: { isSample: true, run: known, samples: [known] },
      settled: 1200,
      unsettled: 34,
    };
    const page = pageOf({ ...factsOf(null), enough });
    expect(page).toContain('22.0% (15.0%–31.0%)');
    expect(page).toContain('90 of 400 chunks');
    expect(page).toContain('1,200 calls stand; 34 may change.');
  });

  it('has groups, notes and what a control means, where a sample sheet named them', () => {
    const facts = factsOf(null);
    const [gut] = facts.found.items;
    if (!gut) throw new Error('The test needs a sample');
    const plain = pageOf(facts);
    expect(plain).not.toMatch(/<th>Group<\/th>|nothing viral is expected/);
    const details = { group: 'site <A>', note: 'no DNA added', control: true };
    const blank = { ...gut, ...details, sample: 'blank' };
    const page = pageOf({ ...facts, found: { ...facts.found, items: [gut, blank] } });
    expect(page).toMatch(/<th>Group<\/th>/);
    expect(page).toMatch(/<td>blank<\/td>\s*<td>site &lt;A&gt;<\/td>\s*<td>yes<\/td>/);
    expect(page).toMatch(/<dt>blank<\/dt>\s*<dd>no DNA added<\/dd>/);
    expect(page).toContain('nothing viral is expected');
  });

  it('counts no controls in its total, and says which sequences are from one', () => {
    const facts = factsOf(null);
    const [gut] = facts.found.items;
    if (!gut) throw new Error('The test needs a sample');
    facts.found.names = ['gut', 'blank'];
    facts.found.items = [gut, { ...gut, sample: 'blank', inputs: [1], control: true }];
    facts.found.outsideControls = {
      ...FOUND,
      byPrediction: { ...FOUND.byPrediction, virus: 10, others: 30 },
    };
    facts.found.inControls = { ...FOUND, samples: 1 };
    facts.top = [hit(0), hit(1)];
    const page = pageOf(facts);
    expect(page).toMatch(/<tfoot>.*<td>All but controls<\/td>.*25\.0%.*<\/tfoot>/s);
    expect(page).toContain(
      'Of 40 sequences that could be scored outside of the controls, 10 were called viral.',
    );
    expect(page.match(/9 of 9 chunks viral, 5,000 bp, no terminal repeat/g)).toHaveLength(2);
    expect(page.match(/no terminal repeat, in a negative control/g)).toHaveLength(1);
  });

  it('loads nothing from elsewhere, and escapes names', () => {
    const page = pageOf(factsOf(null));
    expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\ssrc=/);
    // A browser would also refuse it.
    expect(page).toMatch(/http-equiv="Content-Security-Policy"\s+content="default-src 'none';/);
    expect(page).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
  });

  it('gives the size of ESM-2 only for the published model', () => {
    const methodsOf = (normBands: NormBands | null) => {
      const facts = factsOf(null);
      facts.run.plan.model.normBands = normBands;
      return pageOf(facts);
    };
    expect(methodsOf({ esm2: [12, 16], dnabert_s: [2, 5] })).toContain('ESM-2 3B [2]');
    expect(methodsOf(null)).not.toContain('3B');
  });

  it.each(['en', 'de'] as const)('shows in %s what was found, and how to cite it', (language) => {
    const page = pageOf(factsOf(null), language);
    expect(page).toContain(`lang="${language}"`);
    expect(page).toContain(language === 'en' ? '33.3%' : '33,3\u00a0%');
    expect(page).toContain('PyTorch 2.13.0');
    for (const { url } of CITATIONS) expect(page).toContain(`href="${url}"`);
  });

  it("begins with the answer, with other tools' calls", () => {
    const facts = factsOf(null);
    Object.assign(facts, {
      top: [hit(0)],
      topOf: 'shortlist',
      topTotal: 1,
      ribbons: [[99]],
      others: [{ title: 'geNomad', says: [{ isVirus: false, text: '0.21' }] }],
    });
    const page = pageOf(facts);
    for (const text of ['geNomad', 'not a virus, 0.21']) expect(page).toContain(text);
    const drawn = (steps: number[]) =>
      pageOf({ ...facts, ribbons: [steps] }).match(/<td class="ribbon">.*?<\/td>/s)?.[0];
    expect(drawn([99, 1099])).toContain(ribbonPaths([99, 1099]).again);
    expect(drawn([99, 1099])).not.toBe(drawn([99, 99]));
    const headings = (html: string) => [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, text]) => text);
    expect(headings(page).slice(0, 2)).toEqual(['Samples', 'Top of the list']);
    expect(headings(page).slice(-2)).toEqual(['Methods, to copy', 'Please cite']);
  });

  it('shows how many sequences have each score and each length, and which share of a length has no score', () => {
    const page = pageOf(factsOf(null));
    expect(page).toMatch(/height="50\.00"[^]*?0\.50 – 1\.00: 25[^]*?<span>1\.0<\/span>/);
    expect(page).toMatch(
      /<td>0 – 299<\/td>\s*<td class="n">25<\/td>\s*<td class="n">50<\/td>\s*<td class="n">7<\/td>\s*<td class="n">9%/,
    );
  });

  it('says what p-values and calls of pairs mean where the run has them', () => {
    const terms = (facts: ReportFacts) =>
      ['p-value', 'Read pair'].filter((term) => pageOf(facts).includes(`<dt>${term}</dt>`));
    const facts = factsOf(null);
    expect(terms(facts)).toEqual([]);
    facts.run.plan.trusted = { file: 'soil_hosts.fa', calibratedAt: '2026-01-01T00:00:00.000Z', classes: [] };
    facts.run.inputs = facts.run.inputs.map((input, i) => ({ ...input, path: `/data/gut_R${i + 1}.fastq` }));
    expect(terms(facts)).toEqual(['p-value', 'Read pair']);
    expect(pageOf(facts, 'de')).toContain('soil_hosts.fa');
  });

  it('is marked all over where the teaching model was used, and only there', () => {
    expect(pageOf(factsOf('no biological meaning'))).toContain(
      '<div class="watermark" aria-hidden="true">Not for research</div>',
    );
    expect(pageOf(factsOf(null))).not.toContain('Not for research');
  });
});
