/** A colour of a chart, and what it stands for. */
export interface LegendItem {
  readonly label: string;
  readonly color: string;
  readonly opacity?: number;
}

interface PictureTexts {
  readonly title: string;
  readonly legend: readonly LegendItem[];
  /** Notes below the chart: how to read it, and warnings. */
  readonly notes: readonly string[];
}

const SVG = 'http://www.w3.org/2000/svg';
const FONT = 'Inter, Arial, Helvetica, sans-serif';
const PADDING = 16;
const TITLE_PX = 15;
const SMALL_PX = 11;
const LINE_PX = 16;
const SWATCH_PX = 10;
const GAP_PX = 16;
/** Approximate width of a character in the small text. */
const CHARACTER_PX = 5.6;
/** Pixels of the PNG per CSS pixel, so that it is sharp on paper too. */
const PNG_SCALE = 3;

/** Style properties that come from style sheets and variables, which a separate file doesn't have. */
const PAINTED = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'opacity',
  'font-size',
  'font-weight',
  'text-anchor',
] as const;

/**
 * Turns a chart into a separate file with title, legend and notes. It is light in either theme of the window, since it is meant for
 * paper: its copy is rendered inside `.printed`, where the colours of the light theme apply.
 */
export function chartSvg(chart: SVGElement, { title, legend, notes }: PictureTexts): string {
  const { width, height } = chart.getBoundingClientRect();
  const inner = Math.round(width);
  const place = document.createElement('div');
  place.className = 'printed';
  document.body.append(place);
  try {
    const body = place.appendChild(chart.cloneNode(true) as SVGElement);
    let y = PADDING + TITLE_PX;
    const picture = element('svg', {});
    const heading = text(title, PADDING, y, { 'font-size': TITLE_PX, 'font-weight': 600 });
    y += 8;
    body.setAttribute('x', String(PADDING));
    body.setAttribute('y', String(y));
    body.setAttribute('width', String(inner));
    body.setAttribute('height', String(Math.round(height)));
    y += Math.round(height) + LINE_PX;
    const below: SVGElement[] = [];
    let x = PADDING;
    for (const { label, color, opacity = 1 } of legend) {
      const needed = SWATCH_PX + 6 + label.length * CHARACTER_PX + GAP_PX;
      if (x > PADDING && x + needed > PADDING + inner) [x, y] = [PADDING, y + LINE_PX];
      below.push(
        element('rect', {
          x,
          y: y - SWATCH_PX + 1,
          width: SWATCH_PX,
          height: SWATCH_PX,
          fill: color,
          'fill-opacity': opacity,
        }),
        text(label, x + SWATCH_PX + 6, y, { 'font-size': SMALL_PX }),
      );
      x += needed;
    }
    if (legend.length > 0) y += LINE_PX;
    for (const line of notes.flatMap((note) => wrapped(note, Math.floor(inner / CHARACTER_PX)))) {
      below.push(text(line, PADDING, y, { 'font-size': SMALL_PX }));
      y += LINE_PX;
    }
    const [wide, high] = [inner + 2 * PADDING, y - LINE_PX + PADDING];
    for (const [name, value] of Object.entries({
      xmlns: SVG,
      width: wide,
      height: high,
      viewBox: `0 0 ${wide} ${high}`,
      'font-family': FONT,
    }))
      picture.setAttribute(name, String(value));
    picture.append(
      element('rect', { width: wide, height: high, fill: 'var(--surface)' }),
      heading,
      body,
      ...below,
    );
    place.replaceChildren(picture);
    for (const part of picture.querySelectorAll<SVGElement>('*')) paint(part);
    return new XMLSerializer().serializeToString(picture);
  } finally {
    place.remove();
  }
}

/** Renders the SVG as a PNG. */
export async function svgToPng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth * PNG_SCALE, image.naturalHeight * PNG_SCALE);
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/png' });
}

/** Breaks a text into lines of at most `most` characters; a longer word gets a line of its own. */
export function wrapped(note: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of note.split(/\s+/).filter((part) => part !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function paint(part: SVGElement): void {
  const style = getComputedStyle(part);
  for (const property of PAINTED) {
    const value = style.getPropertyValue(property);
    if (value !== '') part.setAttribute(property, value);
  }
  for (const property of ['class', 'style', 'tabindex', 'role', 'aria-label']) part.removeAttribute(property);
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  return made;
}

function text(
  content: string,
  x: number,
  y: number,
  attributes: Readonly<Record<string, string | number>>,
): SVGElement {
  const made = element('text', { x, y, fill: 'var(--text)', ...attributes });
  made.textContent = content;
  return made;
}
