import { ribbonPaths } from '../../../contract/ribbon.ts';

const COLOURS = { virus: '#c8510a', others: '#3f7cac', not_scored: '#9aa0a6', again: '#5f6368' } as const;

/** The scores along a sequence, as inline SVG; the call beside it says the same in words. */
export function ribbon(steps: readonly number[]): Markup {
  const paths = Object.entries(ribbonPaths(steps)).map(
    ([of, path]) => html`<path fill="${COLOURS[of as keyof typeof COLOURS]}" d="${path}" />`,
  );
  return html`<svg
    viewBox="0 0 ${Math.max(1, steps.length)} 100"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${paths}
  </svg>`;
}

/** Bars side by side, of values on a common scale; each is said in words to who points at it. */
export function bars(
  values: readonly number[],
  title: string,
  of: (bin: number) => { call: 'virus' | 'others'; words: string },
): Markup {
  const most = Math.max(1, ...values);
  return html`<svg
    class="bars"
    viewBox="0 0 ${values.length} 100"
    preserveAspectRatio="none"
    role="img"
    aria-label="${title}"
  >
    ${values.map((value, bin) => {
      const { call, words } = of(bin);
      const height = (100 * value) / most;
      return html`<rect
        x="${bin}"
        y="${(100 - height).toFixed(2)}"
        width="0.9"
        height="${height.toFixed(2)}"
        fill="${COLOURS[call]}"
        ><title>${words}</title></rect
      >`;
    })}
  </svg>`;
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

export type Part = string | number | Markup | readonly Part[];

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
