import { ribbonPaths } from '../../../contract/ribbon.ts';

/* Charts of a report, as inline SVG without scripts or separate files. Each has a text description. */

export const COLOURS = {
  virus: '#c8510a',
  others: '#3f7cac',
  not_scored: '#9aa0a6',
  failed: '#202124',
} as const;
type Call = keyof typeof COLOURS;

const WIDTH = 680;
const ROW = 24;
const LABEL = 170;

interface StackedRow {
  label: string;
  counts: Record<Call, number>;
}

/** One bar per sample, divided by call, all of equal length. */
export function stackedBars(rows: readonly StackedRow[], title: string): Markup {
  const span = WIDTH - LABEL;
  const bars = rows.map(({ label, counts }, i) => {
    const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
    let x = LABEL;
    const pieces = (Object.keys(COLOURS) as Call[]).map((call) => {
      const width = total === 0 ? 0 : (span * counts[call]) / total;
      const piece = html`<rect
        x="${x.toFixed(1)}"
        y="${i * ROW + 3}"
        width="${width.toFixed(1)}"
        height="${ROW - 8}"
        fill="${COLOURS[call]}"
        ><title>${label}: ${counts[call]}</title></rect
      >`;
      x += width;
      return piece;
    });
    return html`<text x="${LABEL - 8}" y="${i * ROW + 15}" text-anchor="end">${shortened(label)}</text
      >${pieces}`;
  });
  return picture(rows.length * ROW + 4, title, bars);
}

export function ribbon(steps: readonly number[]): Markup {
  const colours = { ...COLOURS, again: '#5f6368' };
  const paths = Object.entries(ribbonPaths(steps)).map(
    ([of, path]) => html`<path fill="${colours[of as keyof typeof colours]}" d="${path}" />`,
  );
  return html`<svg
    viewBox="0 0 ${Math.max(1, steps.length)} 100"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${paths}
  </svg>`;
}

interface BarGroup {
  label: string;
  /** From 0 to 1. */
  height: number;
  note: string;
}

/**
 * Bars side by side with their labels below. `top`: label at the upper end of the axis; `end`: label after
 * the last bar.
 */
export function columns(
  bars: readonly BarGroup[],
  options: { title: string; top: string; colour: string; labelEvery?: number; end?: string },
): Markup {
  const { title, top, colour, labelEvery = 1, end = '' } = options;
  const height = 150;
  const left = 60;
  const step = (WIDTH - left) / Math.max(1, bars.length);
  const shapes = bars.map(({ label, height: share, note }, i) => {
    const tall = share * height;
    const x = left + i * step;
    const text =
      i % labelEvery === 0
        ? html`<text
            x="${(x + (labelEvery === 1 ? step / 2 : 0)).toFixed(1)}"
            y="${height + 28}"
            text-anchor="middle"
            >${label}</text
          >`
        : '';
    return html`<rect
        x="${(x + 1).toFixed(1)}"
        y="${(height + 10 - tall).toFixed(1)}"
        width="${Math.max(1, step - 2).toFixed(1)}"
        height="${tall.toFixed(1)}"
        fill="${colour}"
        ><title>${note}</title></rect
      >${text}`;
  });
  return picture(height + 36, title, [
    html`<line x1="${left}" x2="${WIDTH}" y1="${height + 10.5}" y2="${height + 10.5}" stroke="#888" />`,
    html`<text x="${left - 8}" y="14" text-anchor="end">${top}</text
      ><text x="${left - 8}" y="${height + 12}" text-anchor="end">0</text>`,
    html`<text x="${WIDTH}" y="${height + 28}" text-anchor="end">${end}</text>`,
    ...shapes,
  ]);
}

function picture(height: number, title: string, content: readonly Markup[]): Markup {
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
    ${markup(content.join(''))}
  </svg>`;
}

const MOST_LETTERS = 24;

function shortened(label: string): string {
  return label.length > MOST_LETTERS ? `${label.slice(0, MOST_LETTERS - 1)}…` : label;
}

/** Text that is already HTML. */
export class Markup {
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

type Part = string | number | Markup | readonly Part[];

export function markup(text: string): Markup {
  return new Markup(text);
}

/** HTML with inserted values: a value that is not markup is escaped as text. */
export function html(texts: TemplateStringsArray, ...values: Part[]): Markup {
  return new Markup(texts.map((text, i) => text + (i < values.length ? partText(values[i]!) : '')).join(''));
}

function partText(part: Part): string {
  if (part instanceof Markup) return part.toString();
  if (typeof part === 'object') return part.map(partText).join('');
  return String(part)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
