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
