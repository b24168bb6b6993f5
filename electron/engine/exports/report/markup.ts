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
