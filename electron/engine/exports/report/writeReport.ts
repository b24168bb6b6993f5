import { basename } from 'node:path';
import type { OtherSays } from '../../../contract/otherTools.ts';
import { exportFormat } from '../format.ts';
import { CITATIONS, type ExportLanguage } from '../../../contract/exports.ts';
import { hitText } from '../../../contract/hit.ts';
import { goalText } from '../../../contract/goal.ts';
import { chunkLengthsText, modelMark, shortestChunk } from '../../../contract/plan.ts';
import { STANDARD_GENETIC_CODE, type Precision } from '../../../contract/protocol/common.ts';
import { scoresByCall, sharesByLength } from '../../../contract/lengthScores.ts';
import { estimateText, sharePercent } from '../../../contract/shareEstimate.ts';
import { severityOf, toldOf } from '../../../contract/problems.ts';
import { matesOf } from '../../../contract/samples.ts';
import { NO_DETAILS } from '../../../contract/samples.ts';
import { predictionSchema, viralShare, type Prediction } from '../../../contract/results.ts';
import { isLookedAgain } from '../../../contract/ribbon.ts';
import { createFormats, type Formats } from '../../../contract/format.ts';
import { wordFor } from '../../../contract/columns.ts';
import type { ExportSource } from '../exportSource.ts';
import type { SampleSummary } from '../../../contract/rpc/results.ts';
import type { WholeFile } from '../wholeFile.ts';
import { CALL_TEXT, evidenceText, PAIR_TEXT, pValueText, SCORE_TEXT } from '../table/workbookNotes.ts';
import { COLOURS, columns, ribbon, stackedBars, html, markup, type Markup } from './charts.ts';
import { reportFacts, SCORE_BINS, type ReportFacts } from './reportFacts.ts';
import { filesLeftOut, inputsRead } from '../../store/types.ts';
import { describeRunControls } from '../../../contract/checks.ts';
import { REPORT_TEXTS } from './reportTexts.ts';

const PRECISIONS: Record<Precision, string> = {
  fp32: 'FP32 (32 bit)',
  fp16: 'FP16 (16 bit)',
  bf16: 'BF16 (16 bit)',
  fp8: 'FP8 (8 bit)',
};

/** These leave out nothing that is there, but something is probably missing. */
const OF_WHOLE_FILES: ReadonlySet<string> = new Set([
  'no_sequences',
  'no_end_block',
  'mates_unequal',
  'mates_disagree',
]);
/** Places that are named of a problem; failed_records.tsv has them all. */
const MOST_PLACES = 5;

/** A picture of a great many samples helps nobody; the table has them all. */
const MOST_BARS = 40;

/**
 * Writes one HTML file that says what was run, what was found and how to read it; it opens offline and prints
 * on A4.
 */
async function writeReport(source: ExportSource, file: WholeFile): Promise<void> {
  source.report(0);
  await file.write(reportHtml(await reportFacts(source), source.language, new Date()));
  source.report(source.count);
}

export function reportHtml(facts: ReportFacts, language: ExportLanguage, now: Date): string {
  const page = new ReportPage(facts, language);
  return `<!doctype html>\n${page.whole(now).toString()}\n`;
}

class ReportPage {
  private readonly facts: ReportFacts;
  private readonly language: ExportLanguage;
  private readonly texts: (typeof REPORT_TEXTS)[ExportLanguage];
  private readonly count: (value: number) => string;
  private readonly format: Formats;

  constructor(facts: ReportFacts, language: ExportLanguage) {
    this.facts = facts;
    this.language = language;
    this.texts = REPORT_TEXTS[language];
    this.format = createFormats(language === 'de' ? 'de-DE' : 'en-GB');
    this.count = this.format.integer;
  }

  /** The answer comes first, then the evidence for it, then how it was made. */
  whole(now: Date): Markup {
    const { run } = this.facts;
    const { texts } = this;
    const isMarked = modelMark(run.plan.model) !== null;
    const title = texts.title(run.description.name);
    return html`<html lang="${this.language}">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <meta name="viewport" content="width=device-width" />
        <meta name="generator" content="VirNucPro Desktop" />
        <title>${isMarked ? `${texts.notForResearch}: ${title}` : title}</title>
        <style>
          ${markup(REPORT_STYLE)}
        </style>
      </head>
      <body>
        ${isMarked ? html`<div class="watermark" aria-hidden="true">${texts.notForResearch}</div>` : ''}
        <header>
          <h1>${title}</h1>
          <p>${texts.made(this.format.dateTime(now.toISOString()))}</p>
          ${isMarked ? html`<p class="caution" role="note"><strong>${texts.notForResearch}.</strong> ${texts.marked(run.plan.model.title)}</p>` : ''}
          ${run.state.phase === 'done' ? '' : html`<p class="caution" role="note">${texts.unfinished} ${this.enough()}</p>`}
          ${this.leftOut()}
        </header>
        <main>
          ${this.known()}${this.samples()}${this.top()}${this.plots()}${this.reading()}${this.limits()}${this.what()}${this.methods()}${this.citations()}
        </main>
      </body>
    </html>`;
  }

  /** What the results do not have, and why: files that the run went on without, damaged records, reads without their mates. */
  private leftOut(): Markup | string {
    const { inputs, problems } = this.facts.run;
    const files = filesLeftOut(this.facts.run);
    const used = inputs.filter(({ failure }) => !failure).length;
    const notAll = problems.filter(({ code }) => severityOf(code) === 'skipped' || OF_WHOLE_FILES.has(code));
    if (files.length + notAll.length === 0) return '';
    const { texts, count, language } = this;
    return html`<div class="caution" role="note">
      ${files.length === 0 ? '' : html`<p>${texts.leftOut(count(files.length), count(used + files.length))}</p>`}
      <ul>
        ${files.map(({ path, ...why }) => html`<li><strong>${basename(path)}</strong>: ${toldOf(why, language)}</li>`)}
      </ul>
      ${notAll.length === 0 ? '' : html`<p>${texts.notAll}</p>`}
      <ul>
        ${notAll.map(
          (problem) =>
            html`<li>
              <strong>${this.facts.inputNames[problem.input] ?? ''}</strong>: ${toldOf(problem, language)}
              ${problem.examples.slice(0, MOST_PLACES).map(({ name, detail }) => html`<br />${name}: ${detail}`)}
            </li>`,
        )}
      </ul>
    </div>`;
  }

  /** What the results of a run that stopped at its goal are based on. */
  private enough(): string {
    const { state, counts } = this.facts.run;
    if (state.phase !== 'paused' || !state.enough) return '';
    const { done, total } = counts.frames;
    return this.texts.enough(goalText(state.enough), this.count(done), this.count(total));
  }

  private known(): Markup | string {
    const { enough } = this.facts;
    if (enough === null) return '';
    const { texts, count } = this;
    const { settled, unsettled, shares } = enough;
    return html`<section>
      <p>${texts.calls(count(settled), count(unsettled))}</p>
      ${table(shares.samples, [
        { title: texts.sample, cell: ({ sample }) => sample },
        {
          title: texts.shareToCome,
          kind: 'n',
          cell: ({ estimate }) => (estimate === null ? '–' : estimateText(estimate, this.format.percent)),
        },
        {
          title: texts.restsOn,
          kind: 'n',
          cell: ({ unit, scored, total }) => texts.basis[unit](count(scored), count(total)),
        },
      ])}
    </section>`;
  }

  private what(): Markup {
    const { run, timings, inputNames, found, versions } = this.facts;
    const { texts, count } = this;
    const { model, precision } = run.plan;
    const dateTime = (time: number) => this.format.dateTime(new Date(time).toISOString());
    const program = ['app', 'backend', 'python', 'torch', 'platform'].flatMap((name) => {
      const version = versions[name];
      return version === null || version === undefined ? [] : [`${name} ${version}`];
    });
    const rows: [string, string][] = [
      [texts.model, `${model.title}${model.notice === null ? '' : ` (${model.notice})`}`],
      [texts.chunks, `${chunkLengthsText(run.plan)} bp`],
      [texts.precision, PRECISIONS[precision]],
      ...this.controls(),
      ...[...new Set(inputsRead(run).flatMap(({ repairs }) => repairs))].map((repair): [string, string] => [
        texts.repairs,
        texts.repair[repair],
      ]),
      ...this.imported((facts): [string, string] => [texts.imported, texts.importedFrom(facts)]),
      [texts.devices, [...new Set(run.devices.map(({ name }) => name))].join(', ') || '–'],
      [texts.begun, timings.startedAt === null ? '–' : dateTime(timings.startedAt)],
      [texts.ended, dateTime(timings.lastChangeAt)],
      [texts.working, this.format.duration(timings.workingMilliseconds / 1000)],
      [texts.program, `VirNucPro Desktop: ${program.join(', ')}`],
    ];
    return html`<section>
      <h2>${texts.what}</h2>
      ${definitions(rows)}
      ${table(run.inputs, [
        { title: texts.file, cell: ({ input }) => inputNames[input] ?? '' },
        { title: texts.sample, cell: ({ input }) => found.names[input] ?? '' },
        { title: texts.size, kind: 'n', cell: ({ sizeBytes }) => this.format.fileSize(sizeBytes) },
        {
          title: texts.sequences,
          kind: 'n',
          cell: ({ prepared }) => (prepared ? count(prepared.records) : '–'),
        },
        { title: texts.bases, kind: 'n', cell: ({ prepared }) => (prepared ? count(prepared.bases) : '–') },
      ])}
    </section>`;
  }

  private samples(): Markup {
    const { items: samples, outsideControls } = this.facts.found;
    const { texts, language } = this;
    const calls = predictionSchema.options;
    const wordOf = (call: Prediction) => wordFor('prediction', call, language);
    const hasGroups = samples.some(({ group }) => group !== null);
    const hasControls = samples.some(({ control }) => control);
    const noted = samples.filter(({ note }) => note !== null);
    const named = ({ sample }: SampleSummary): string => this.named(sample);
    const columns: ReportColumn<SampleSummary>[] = [
      { title: texts.sample, cell: named },
      ...(hasGroups ? [{ title: texts.group, cell: ({ group }: SampleSummary) => group ?? '' }] : []),
      { title: texts.sequences, kind: 'n', cell: ({ sequences }) => this.count(sequences) },
      ...calls.map((call): ReportColumn<SampleSummary> => ({
        title: wordOf(call),
        kind: 'n',
        cell: ({ byPrediction }) => this.count(byPrediction[call]),
      })),
      { title: texts.bases, kind: 'n', cell: ({ bases }) => this.count(bases) },
      {
        title: texts.share,
        kind: 'n',
        cell: (summary) => sharePercent(viralShare(summary.byPrediction), this.format.percent),
      },
    ];
    return html`<section>
      <h2>${texts.samples}</h2>
      ${table(
        samples,
        columns,
        samples.length > 1
          ? {
              ...NO_DETAILS,
              sample: hasControls ? texts.totalOutsideControls : texts.total,
              inputs: [],
              ...outsideControls,
            }
          : undefined,
      )}
      <figure>
        ${stackedBars(
          samples
            .slice(0, MOST_BARS)
            .map((summary) => ({ label: named(summary), counts: summary.byPrediction })),
          texts.samples,
        )}
        <figcaption>
          ${calls.map((call) => html`<span class="key"><i style="background:${COLOURS[call]}"></i>${wordOf(call)}</span>`)}
        </figcaption>
      </figure>
      <p class="note">${texts.shareNote}</p>
      ${hasControls ? html`<p class="note">${texts.controlNote}</p>` : ''}
      ${noted.length > 0 ? definitions(noted.map(({ sample, note }) => [sample, note ?? ''])) : ''}
    </section>`;
  }

  private isControl(sample: string | undefined): boolean {
    return this.facts.found.items.some((one) => one.control && one.sample === sample);
  }

  /** A sample, marked if it is a control. */
  private named(sample: string): string {
    return this.isControl(sample) ? `${sample} (${this.texts.control})` : sample;
  }

  private plots(): Markup {
    const { virus, others } = scoresByCall(this.facts.scores);
    const { texts } = this;
    const histogram = (bins: readonly number[], title: string, colour: string): Markup => {
      const top = Math.max(1, ...bins);
      const bars = bins.map((n, i) => ({
        label: this.format.decimal(i / SCORE_BINS, 1),
        height: n / top,
        note: texts.perBin(
          this.count(n),
          this.format.decimal(i / SCORE_BINS, 2),
          this.format.decimal((i + 1) / SCORE_BINS, 2),
        ),
      }));
      return html`<figure>
        <figcaption>${title}</figcaption>
        ${columns(bars, {
          title,
          top: this.count(top),
          colour,
          labelEvery: SCORE_BINS / 10,
          end: this.format.decimal(1, 1),
        })}
      </figure>`;
    };
    const byLength = (what: 'virus' | 'notScored', title: string, colour: string): Markup => {
      const bars = sharesByLength(this.facts.scores, what).map(({ from, to, counted, of, share }) => ({
        label: to === null ? `≥ ${this.count(from)}` : `${this.count(from)}–${this.count(to - 1)}`,
        height: share ?? 0,
        note: texts.lengthNote(this.count(counted), this.count(of), this.count(from)),
      }));
      return html`<figure>
        <figcaption>${title}</figcaption>
        ${columns(bars, { title, top: this.format.percent(1), colour })}
      </figure>`;
    };
    const { run, noOpenFrame, found } = this.facts;
    return html`<section>
      <h2>${texts.plots}${found.inControls ? ` (${texts.totalOutsideControls})` : ''}</h2>
      ${histogram(virus, texts.scoresVirus, COLOURS.virus)}${histogram(others, texts.scoresOthers, COLOURS.others)}
      ${byLength('virus', texts.lengths, COLOURS.virus)}${byLength('notScored', texts.notScored, COLOURS.not_scored)}
      ${noOpenFrame > 0 ? html`<p class="note">${texts.notJudged(this.count(noOpenFrame), this.count(shortestChunk(run.plan)))}</p>` : ''}
    </section>`;
  }

  private top(): Markup {
    const { top, topOf, topTotal, ribbons, notes, others, found } = this.facts;
    const { texts, language } = this;
    if (top.length === 0)
      return html`<section>
        <h2>${texts.top}</h2>
        <p>${texts.topNone}</p>
      </section>`;
    const intro = texts.topIntro[topOf](top.length, this.count(topTotal));
    const noteOf = (row: number): string => {
      const { tags = [], note = '' } = notes.get(row) ?? {};
      return [tags.join(', '), note].filter((part) => part !== '').join(': ');
    };
    const isNoted = top.some(({ row }) => noteOf(row) !== '');
    return html`<section>
      <h2>${texts.top}</h2>
      <p>${intro}${ribbons.flat().some(isLookedAgain) ? ` ${texts.lookedAgain}` : ''}</p>
      ${table(top, [
        { title: texts.name, cell: ({ seqName }) => seqName },
        { title: texts.sample, cell: ({ input }) => this.named(found.names[input] ?? '') },
        {
          title: texts.score,
          kind: 'n',
          cell: ({ virusScore, settled }) =>
            html`${virusScore === null ? '–' : this.format.score(virusScore)}${
              settled ? '' : html`<br /><i>${wordFor('settled', false, language)}</i>`
            }`,
        },
        { title: texts.along, kind: 'ribbon', cell: (_, i) => ribbon(ribbons[i] ?? []) },
        {
          title: texts.evidence,
          cell: ({ evidence }) => (evidence === null ? '–' : wordFor('evidence', evidence, language)),
        },
        {
          title: texts.inWords,
          cell: (sequence) =>
            hitText(sequence, { language, isControl: this.isControl(found.names[sequence.input]) }),
        },
        ...others.map(({ title, says }): ReportColumn<(typeof top)[number]> => ({
          title,
          cell: (_, i) => this.otherTool(says[i]),
        })),
        ...(isNoted ? [{ title: texts.note, cell: ({ row }: (typeof top)[number]) => noteOf(row) }] : []),
      ])}
    </section>`;
  }

  private otherTool(says: OtherSays | null | undefined): string {
    if (!says) return '–';
    return [
      says.isVirus === null
        ? ''
        : says.isVirus
          ? wordFor('prediction', 'virus', this.language)
          : this.texts.notVirus,
      says.text,
    ]
      .filter((part) => part !== '')
      .join(', ');
  }

  private reading(): Markup {
    const { texts, language } = this;
    const { plan, inputs } = this.facts.run;
    const hasPairs = matesOf(inputs.map(({ path }) => path)).some((mate) => mate !== null);
    const entries: [string, string][] = [
      [texts.score, SCORE_TEXT[language]],
      [texts.call, CALL_TEXT[language]],
      [texts.evidence, evidenceText(language, plan)],
      ...(plan.trusted ? [[texts.pValue, pValueText(language, plan.trusted.file)] as [string, string]] : []),
      ...(hasPairs ? [[texts.pair, PAIR_TEXT[language]] as [string, string]] : []),
      ...(plan.model.name === 'teaching' && modelMark(plan.model) !== null
        ? [[texts.modelCard, texts.teachingCard] as [string, string]]
        : []),
    ];
    return html`<section>
      <h2>${texts.reading}</h2>
      ${definitions(entries, 'long')}
    </section>`;
  }

  private controls(): [string, string][] {
    const words = describeRunControls(this.facts.run.devices, this.language);
    return words === null ? [] : [[this.texts.controls, words]];
  }

  /** Describes embeddings reused from an earlier run; nothing without any. */
  private imported<Said>(say: (facts: Parameters<typeof this.texts.importedFrom>[0]) => Said): Said[] {
    const { imported } = this.facts.run.plan;
    if (!imported) return [];
    const { count } = this;
    const { folder, precision } = imported;
    return [
      say({
        esm2: count(imported.framesEsm2),
        dnabertS: count(imported.framesDnabertS),
        frames: count(imported.frames),
        folder,
        precision,
      }),
    ];
  }

  private methods(): Markup {
    const { run, versions, found } = this.facts;
    const { byPrediction } = found.outsideControls;
    const { model, chunkLength, minLength, geneticCode, secondLook, precision } = run.plan;
    const text = this.texts.methodsText({
      app: versions['app'] ?? run.description.appVersion,
      torch: versions['torch'] ?? null,
      // Norm bands are known only for the published encoders.
      esm2: model.normBands ? 'ESM-2 3B' : 'ESM-2',
      model: model.title,
      hash: model.hash,
      chunkLength,
      minLength,
      geneticCode: geneticCode ?? STANDARD_GENETIC_CODE,
      secondLook: secondLook
        ? { length: secondLook.chunkLength, model: secondLook.model?.title ?? null }
        : null,
      precision: precision.toUpperCase(),
      sequences: this.count(found.all.sequences),
      hasControls: found.inControls !== null,
      files: run.inputs.length,
      virus: this.count(byPrediction.virus),
      scored: this.count(byPrediction.virus + byPrediction.others),
    });
    return html`<section>
      <h2>${this.texts.methods}</h2>
      <p class="copy">${text}${this.imported((facts) => this.texts.importedMethods(facts))}</p>
    </section>`;
  }

  private citations(): Markup {
    return html`<section>
      <h2>${this.texts.citations}</h2>
      <ol>
        ${CITATIONS.map(
          ({ authors, year, title, source, url }) =>
            html`<li>${authors} (${year}). ${title}. ${source}. <a href="${url}">${url}</a></li>`,
        )}
      </ol>
    </section>`;
  }

  private limits(): Markup {
    return html`<section>
      <h2>${this.texts.limits}</h2>
      <ul>
        ${this.texts.limitList.map((limit) => html`<li>${limit}</li>`)}
      </ul>
    </section>`;
  }
}

interface ReportColumn<Row> {
  title: string;
  /** A number, or the scores along a sequence; otherwise a text. */
  kind?: 'n' | 'ribbon';
  cell: (row: Row, place: number) => Markup | string;
}

const look = (kind: string | undefined): Markup => markup(kind === undefined ? '' : ` class="${kind}"`);

/** A table with a line for each row, and one for their total below. */
function table<Row>(rows: readonly Row[], columns: readonly ReportColumn<Row>[], total?: Row): Markup {
  const line = (row: Row, place: number): Markup =>
    html`<tr>
      ${columns.map(({ kind, cell }) => html`<td${look(kind)}>${cell(row, place)}</td>`)}
    </tr>`;
  return html`<table>
    <thead>
      <tr>
        ${columns.map(({ kind, title }) => html`<th${look(kind)}>${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(line)}
    </tbody>
    ${
      total === undefined
        ? ''
        : html`<tfoot>
            ${line(total, rows.length)}
          </tfoot>`
    }
  </table>`;
}

function definitions(entries: readonly (readonly [term: string, text: string])[], kind?: 'long'): Markup {
  return html`<dl${look(kind)}>
    ${entries.map(
      ([term, text]) =>
        html`<dt>${term}</dt>
          <dd>${text}</dd>`,
    )}
  </dl>`;
}

export const report = exportFormat(
  'report',
  null,
  {
    en: ['Report (HTML)', 'One file to read, print and send'],
    de: ['Bericht (HTML)', 'Eine Datei zum Lesen, Drucken und Verschicken'],
  },
  ({ source, file }) => writeReport(source, file),
  { ending: '_report.html', isOfWholeRun: true },
);

/**
 * The style of a page that is read on a screen and printed on A4; it uses only system fonts, so that nothing
 * is loaded.
 */
const REPORT_STYLE = `
@page { size: A4; margin: 16mm 15mm; }
* { box-sizing: border-box; }
html { color-scheme: light; }
body { margin: 0 auto; padding: 24px; max-width: 820px; color: #1c1e21; background: #fff;
  font: 14px/1.45 system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }
h1 { margin: 0; font-size: 24px; overflow-wrap: anywhere; }
h2 { margin: 26px 0 8px; padding-bottom: 4px; border-bottom: 1px solid #c9ccd1; font-size: 17px; break-after: avoid; }
header > p { margin: 4px 0 0; color: #4b5056; }
.caution :is(p, ul) { margin: 4px 0; }
.caution { margin-top: 12px; padding: 10px 12px; border: 2px solid #a63f00; color: #7a2e00; background: #fff4ec; }
.watermark { position: fixed; inset: 0; z-index: 1; display: grid; place-items: center; pointer-events: none;
  font-size: min(190px, 36vw); font-weight: 800; color: rgba(200, 81, 10, 0.11); transform: rotate(-32deg); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 16px; margin: 0 0 12px; }
dl.long { grid-template-columns: 90px 1fr; gap: 8px 16px; }
dt { color: #4b5056; }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 12.5px; }
th, td { padding: 3px 6px; border-bottom: 1px solid #e3e5e8; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { border-bottom-color: #9aa0a6; overflow-wrap: normal; }
tfoot td { font-weight: 600; border-top: 1px solid #9aa0a6; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr, figure, li { break-inside: avoid; }
thead { display: table-header-group; }
figure { margin: 14px 0; }
figcaption { font-weight: 600; font-size: 13px; margin-bottom: 4px; }
svg { display: block; width: 100%; height: auto; font-size: 11px; fill: #1c1e21; }
.ribbon svg { width: 90px; height: 14px; }
.key { margin-right: 16px; font-weight: 400; }
.key i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; border-radius: 2px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.note { color: #4b5056; font-size: 12.5px; }
.copy { padding: 10px 12px; background: #f3f4f6; border-left: 3px solid #9aa0a6; }
code { font: 11px/1.4 ui-monospace, 'SF Mono', Consolas, monospace; overflow-wrap: anywhere; }
a { color: #1d5c8c; overflow-wrap: anywhere; }
li { margin: 4px 0; }
@media screen and (max-width: 520px) { body { padding: 8px; } table { font-size: 9.5px; } th, td { padding: 3px 1px; }
  .ribbon { display: none; } th, th.n { white-space: normal; overflow-wrap: break-word; } dl.long { grid-template-columns: 1fr; } }
@media print, (min-width: 521px) { td:not(.n, .ribbon) { min-width: 11ch; } }
@media print { body { padding: 0; max-width: none; font-size: 10.5pt; } table { font-size: 9pt; } }
`;
