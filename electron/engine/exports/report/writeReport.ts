import { basename } from 'node:path';
import { describeRunControls } from '../../../contract/checks.ts';
import { sequenceColumn, wordFor, type ColumnKey, type SequenceResult } from '../../../contract/columns.ts';
import { CITATIONS, type ExportLanguage } from '../../../contract/exports.ts';
import { createFormats, type Formats } from '../../../contract/format.ts';
import { goalText } from '../../../contract/goal.ts';
import { hitText } from '../../../contract/hit.ts';
import type { OtherSays } from '../../../contract/otherTools.ts';
import { chunkLengthsText, modelMark } from '../../../contract/plan.ts';
import { severityOf, toldOf } from '../../../contract/problems.ts';
import { isLookedAgain } from '../../../contract/ribbon.ts';
import { matesOf, NO_DETAILS } from '../../../contract/samples.ts';
import { estimateText, sharePercent } from '../../../contract/shareEstimate.ts';
import type { LengthBin, SampleSummary } from '../../../contract/rpc/results.ts';
import { filesLeftOut, inputsRead } from '../../store/types.ts';
import { exportFormat } from '../format.ts';
import { SAMPLE_COLUMNS } from '../samples.ts';
import { howToRead } from '../table/workbookNotes.ts';
import { bars, html, Markup, ribbon, type Part } from './html.ts';
import { reportFacts, type ReportFacts } from './reportFacts.ts';
import { REPORT_TEXTS } from './reportTexts.ts';

/** These leave out nothing that is there, but something is probably missing. */
const OF_WHOLE_FILES: ReadonlySet<string> = new Set([
  'no_sequences',
  'no_end_block',
  'mates_unequal',
  'mates_disagree',
]);
/** Places that are named of a problem; failed_records.tsv has them all. */
const MOST_PLACES = 5;

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
          ${new Markup(REPORT_STYLE)}
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
          ${this.known()}${this.samples()}${this.top()}${this.distributions()}${this.reading()}${section(texts.limits, list(texts.limitList))}
          ${this.what()}${this.methods()}${this.citations()}
        </main>
      </body>
    </html>`;
  }

  /** What the results do not have, and why: files that the run went on without, damaged records, reads without their mates. */
  private leftOut(): Part {
    const { inputs, problems } = this.facts.run;
    const files = filesLeftOut(this.facts.run);
    const used = inputs.filter(({ failure }) => !failure).length;
    const notAll = problems.filter(({ code }) => severityOf(code) === 'skipped' || OF_WHOLE_FILES.has(code));
    if (files.length + notAll.length === 0) return '';
    const { texts, count, language } = this;
    return html`<div class="caution" role="note">
      ${files.length === 0 ? '' : html`<p>${texts.leftOut(count(files.length), count(used + files.length))}</p>`}
      ${list(files.map(({ path, ...why }) => html`<strong>${basename(path)}</strong>: ${toldOf(why, language)}`))}
      ${notAll.length === 0 ? '' : html`<p>${texts.notAll}</p>`}
      ${list(
        notAll.map(
          (problem) =>
            html`<strong>${this.facts.inputNames[problem.input] ?? ''}</strong>: ${toldOf(problem, language)}
              ${problem.examples.slice(0, MOST_PLACES).map(({ name, detail }) => html`<br />${name}: ${detail}`)}`,
        ),
      )}
    </div>`;
  }

  /** What the results of a run that stopped at its goal are based on. */
  private enough(): string {
    const { state, counts } = this.facts.run;
    if (state.phase !== 'paused' || !state.enough) return '';
    const { done, total } = counts.frames;
    return this.texts.enough(goalText(state.enough), this.count(done), this.count(total));
  }

  private known(): Part {
    const { enough } = this.facts;
    if (enough === null) return '';
    const { texts, count } = this;
    const { settled, unsettled, shares } = enough;
    return html`<section>
      <p>${texts.calls(count(settled), count(unsettled))}</p>
      ${table(shares.samples, [
        { title: SAMPLE_COLUMNS.sample[this.language], cell: ({ sample }) => sample },
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
    const { texts, count, language } = this;
    const { model, precision } = run.plan;
    const dateTime = (time: number | null) =>
      time === null ? '–' : this.format.dateTime(new Date(time).toISOString());
    const program = ['app', 'backend', 'python', 'torch', 'platform'].flatMap((name) =>
      versions[name] ? [`${name} ${versions[name]}`] : [],
    );
    const repairs = new Set(inputsRead(run).flatMap((input) => input.repairs));
    const controls = describeRunControls(run.devices, language);
    return section(
      texts.what,
      definitions([
        [this.heading('model'), `${model.title}${model.notice === null ? '' : ` (${model.notice})`}`],
        [texts.chunks, `${chunkLengthsText(run.plan)} bp`],
        [texts.precision, precision.toUpperCase()],
        ...(controls === null ? [] : [[texts.controls, controls] as const]),
        ...[...repairs].map((repair) => [texts.repairs, texts.repair[repair]] as const),
        [texts.devices, [...new Set(run.devices.map(({ name }) => name))].join(', ') || '–'],
        [texts.begun, dateTime(timings.startedAt)],
        [texts.ended, dateTime(timings.lastChangeAt)],
        [texts.working, this.format.duration(timings.workingMilliseconds / 1000)],
        [texts.program, `VirNucPro Desktop: ${program.join(', ')}`],
      ]),
      table(run.inputs, [
        { title: this.heading('input'), cell: ({ input }) => inputNames[input] ?? '' },
        { title: SAMPLE_COLUMNS.sample[language], cell: ({ input }) => found.names[input] ?? '' },
        { title: texts.size, kind: 'n', cell: ({ sizeBytes }) => this.format.fileSize(sizeBytes) },
        {
          title: SAMPLE_COLUMNS.sequences[language],
          kind: 'n',
          cell: ({ prepared }) => (prepared ? count(prepared.records) : '–'),
        },
        {
          title: SAMPLE_COLUMNS.bases[language],
          kind: 'n',
          cell: ({ prepared }) => (prepared ? count(prepared.bases) : '–'),
        },
      ]),
    );
  }

  /** The title of a column that tables of sequences have. */
  private heading(key: ColumnKey): string {
    return sequenceColumn(key)[this.language][0];
  }

  private samples(): Markup {
    const { items: samples, outsideControls } = this.facts.found;
    const { texts, language } = this;
    const hasControls = samples.some(({ control }) => control);
    const noted = samples.flatMap(({ sample, note }) => (note === null ? [] : [[sample, note] as const]));
    const total = {
      ...{ ...NO_DETAILS, sample: hasControls ? texts.totalOutsideControls : texts.total, inputs: [] },
      ...outsideControls,
    };
    const columns = Object.values(SAMPLE_COLUMNS)
      .filter(({ kind, valueOf }) => kind !== 'text' || samples.some((one) => valueOf(one, language)))
      .map(({ [language]: title, kind, valueOf }): ReportColumn<SampleSummary> => ({
        title,
        ...(kind !== 'text' && { kind: 'n' }),
        cell: (summary) => {
          const value = valueOf(summary, language);
          if (kind === 'share')
            return sharePercent(value === null ? null : Number(value), this.format.percent);
          return typeof value === 'number' ? this.count(value) : (value ?? '');
        },
      }));
    return section(
      texts.samples,
      table(samples, columns, samples.length > 1 ? total : undefined),
      html`<p class="note">${texts.shareNote}</p>`,
      hasControls ? html`<p class="note">${texts.controlNote}</p>` : '',
      noted.length > 0 ? definitions(noted) : '',
    );
  }

  private top(): Markup {
    const { top, topOf, topTotal, ribbons, others, found } = this.facts;
    const { texts, language } = this;
    if (top.length === 0) return section(texts.top, html`<p>${texts.topNone}</p>`);
    const controls = new Set(found.items.flatMap(({ control, sample }) => (control ? [sample] : [])));
    const sampleOf = (input: number): string => found.names[input] ?? '';
    const isMarked = ribbons.flat().some(isLookedAgain);
    return section(
      texts.top,
      html`<p>
        ${texts.topIntro[topOf](top.length, this.count(topTotal))}${isMarked ? ` ${texts.lookedAgain}` : ''}
      </p>`,
      table(top, [
        { title: this.heading('seqName'), cell: ({ seqName }) => seqName },
        { title: SAMPLE_COLUMNS.sample[language], cell: ({ input }) => sampleOf(input) },
        {
          title: this.heading('virusScore'),
          kind: 'n',
          cell: ({ virusScore, settled }) =>
            html`${virusScore === null ? '–' : this.format.score(virusScore)}${
              settled ? '' : html`<br /><i>${wordFor('settled', false, language)}</i>`
            }`,
        },
        { title: texts.along, kind: 'ribbon', cell: (_, i) => ribbon(ribbons[i] ?? []) },
        {
          title: this.heading('evidence'),
          cell: ({ evidence }) => (evidence === null ? '–' : wordFor('evidence', evidence, language)),
        },
        {
          title: texts.inWords,
          cell: (sequence) =>
            hitText(sequence, { language, isControl: controls.has(sampleOf(sequence.input)) }),
        },
        ...others.map(({ title, says }): ReportColumn<SequenceResult> => ({
          title,
          cell: (_, i) => this.otherTool(says[i]),
        })),
      ]),
    );
  }

  private distributions(): Part {
    const { virus, others } = this.facts.scores;
    const { texts, count, format } = this;
    const all = (bin: LengthBin) => bin.virus + bin.others + bin.not_scored;
    const lengths = this.facts.lengths.filter((bin) => all(bin) > 0);
    if (lengths.length === 0) return '';
    const score = (bin: number) => format.decimal(bin / virus.length, 2);
    const scores = virus.map((n, bin) => n + others[bin]!);
    return section(
      texts.distributions,
      html`<h3>${texts.scores}</h3>
        <p class="note">${texts.upTo(count(Math.max(...scores)))}</p>
        ${bars(scores, texts.scores, (bin) => ({
          call: virus[bin]! > 0 ? 'virus' : 'others',
          words: `${score(bin)} – ${score(bin + 1)}: ${count(scores[bin]!)}`,
        }))}
        <p class="axis"><span>${format.decimal(0, 1)}</span><span>${format.decimal(1, 1)}</span></p>
        <h3>${texts.byLength}</h3>`,
      table(lengths, [
        {
          title: this.heading('length'),
          cell: ({ from, to }) => (to === null ? `≥ ${count(from)}` : `${count(from)} – ${count(to - 1)}`),
        },
        ...(['virus', 'others', 'not_scored'] as const).map((call): ReportColumn<LengthBin> => ({
          title: wordFor('prediction', call, this.language),
          kind: 'n',
          cell: (bin) => count(bin[call]),
        })),
        {
          title: texts.notScoredShare,
          kind: 'n',
          cell: (bin) => format.percent(bin.not_scored / all(bin)),
        },
      ]),
    );
  }

  private otherTool(says: OtherSays | null | undefined): string {
    if (!says) return '–';
    const { isVirus, text } = says;
    const call = isVirus ? wordFor('prediction', 'virus', this.language) : this.texts.notVirus;
    return [isVirus === null ? '' : call, text].filter((part) => part !== '').join(', ');
  }

  private reading(): Markup {
    const { plan, inputs } = this.facts.run;
    const has = {
      evidence: true,
      p_value: plan.trusted !== undefined,
      pair_score: matesOf(inputs.map(({ path }) => path)).some((mate) => mate !== null),
    };
    return section(
      this.texts.reading,
      definitions(
        howToRead(this.language, plan, (column) => has[column]),
        'long',
      ),
    );
  }

  private methods(): Markup {
    const { run, versions, found } = this.facts;
    const { virus, others } = found.outsideControls.byPrediction;
    const { plan } = run;
    const { texts, count } = this;
    const text = texts.methodsText({
      plan,
      app: versions['app'] ?? run.description.appVersion,
      torch: versions['torch'] ?? null,
      sequences: count(found.all.sequences),
      hasControls: found.inControls !== null,
      files: run.inputs.length,
      virus: count(virus),
      scored: count(virus + others),
    });
    const imported = plan.imported
      ? texts.importedMethods(
          count(plan.imported.framesEsm2),
          count(plan.imported.framesDnabertS),
          count(plan.imported.frames),
        )
      : '';
    return section(texts.methods, html`<p class="copy">${text}${imported}</p>`);
  }

  private citations(): Markup {
    const works = CITATIONS.map(
      ({ authors, year, title, source, url }) =>
        html`<li>${authors} (${year}). ${title}. ${source}. <a href="${url}">${url}</a></li>`,
    );
    return section(
      this.texts.citations,
      html`<ol>
        ${works}
      </ol>`,
    );
  }
}

interface ReportColumn<Row> {
  title: string;
  /** A number, or the scores along a sequence; otherwise a text. */
  kind?: 'n' | 'ribbon';
  cell: (row: Row, place: number) => Markup | string;
}

function section(title: string, ...content: Part[]): Markup {
  return html`<section>
    <h2>${title}</h2>
    ${content}
  </section>`;
}

const list = (items: readonly (Markup | string)[]): Markup =>
  html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;

const look = (kind: string | undefined): Markup => new Markup(kind === undefined ? '' : ` class="${kind}"`);

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
  return html`<dl${look(kind)}>${entries.map(
    ([term, text]) =>
      html`<dt>${term}</dt>
        <dd>${text}</dd>`,
  )}</dl>`;
}

/** One HTML file that says what was found, how to read it and what was run; it opens offline and prints on A4. */
export const report = exportFormat(
  'report',
  {
    en: ['Report (HTML)', 'One file to read, print and send'],
    de: ['Bericht (HTML)', 'Eine Datei zum Lesen, Drucken und Verschicken'],
  },
  async ({ source, file }) => {
    source.report(0);
    await file.write(reportHtml(await reportFacts(source), source.language, new Date()));
    source.report(source.count);
  },
  { ending: '_report.html', isOffered: false, isOfWholeRun: true },
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
tr, li { break-inside: avoid; }
thead { display: table-header-group; }
.ribbon svg { display: block; width: 90px; height: 14px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
h3 { margin: 14px 0 4px; font-size: 14px; break-after: avoid; }
.bars { display: block; width: 100%; height: 120px; border-bottom: 1px solid #888; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.axis { display: flex; justify-content: space-between; margin: 0; font-size: 12.5px; }
.note { color: #4b5056; font-size: 12.5px; }
.copy { padding: 10px 12px; background: #f3f4f6; border-left: 3px solid #9aa0a6; }
a { color: #1d5c8c; overflow-wrap: anywhere; }
li { margin: 4px 0; }
@media screen and (max-width: 520px) { body { padding: 8px; } table { font-size: 9.5px; } th, td { padding: 3px 1px; }
  .ribbon { display: none; } th, th.n { white-space: normal; overflow-wrap: break-word; } dl.long { grid-template-columns: 1fr; } }
@media print, (min-width: 521px) { td:not(.n, .ribbon) { min-width: 11ch; } }
@media print { body { padding: 0; max-width: none; font-size: 10.5pt; } table { font-size: 9pt; } }
`;
