import { useMutation } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { chartSvg, svgToPng, type LegendItem } from './chartPicture.ts';
import { useTexts } from '../../i18n/index.ts';
import { home } from '../connection.ts';
import { downloadBlob } from './download.ts';
import { saySaved } from '../saySaved.ts';

export const PICTURE_FORMATS = ['svg', 'png'] as const;

/** Describes the run whose charts a screen shows. */
export interface ChartSource {
  /** The first part of a picture's file name. */
  readonly stem: string;
  /** Printed below each picture. */
  readonly notes: readonly string[];
}

export const NO_CHART_SOURCE: ChartSource = { stem: 'virnucpro', notes: [] };
export const ChartSourceContext = createContext(NO_CHART_SOURCE);

interface PictureOrder {
  chart: SVGElement;
  title: string;
  legend: readonly LegendItem[];
  note: string;
  format: (typeof PICTURE_FORMATS)[number];
}

/** Writes a chart to a file that the user names or that the browser downloads. */
export function useSavePicture() {
  const texts = useTexts();
  const source = use(ChartSourceContext);
  return useMutation({
    mutationFn: async ({ chart, title, legend, note, format }: PictureOrder) => {
      const svg = chartSvg(chart, { title, legend, notes: [note, ...source.notes] });
      const picture = format === 'png' ? await svgToPng(svg) : new Blob([svg], { type: 'image/svg+xml' });
      const name = `${source.stem}_${title.replaceAll(/[^\p{L}\p{N}]+/gu, '_').toLowerCase()}.${format}`;
      if (!window.virnucpro) {
        downloadBlob(picture, name);
        saySaved({ path: name }, texts);
        return;
      }
      const { path } = await home.shell.savePicture({
        suggestedName: name,
        base64: await base64Of(picture),
      });
      if (path !== null) saySaved({ path }, texts);
    },
  });
}

function base64Of(content: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () =>
      resolve(typeof reader.result === 'string' ? reader.result.replace(/^[^,]*,/, '') : '');
    reader.onerror = () => reject(new Error('The picture could not be read.'));
    reader.readAsDataURL(content);
  });
}
