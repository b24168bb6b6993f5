import type { Wording } from '../../electron/contract/index.ts';
import type { Texts } from './index.ts';

type Speaker = Pick<Texts, 'lookUp' | 'format'>;
/** Maps a device's id to its name in this window; null for an unknown device. */
type DeviceLabel = (id: string) => string | null;

/** The engine's sentence in the language of the window; null if the catalogue lacks a key for any part of it, or
 * the engine a value. */
export function inOwnWords(wording: Wording, texts: Speaker, deviceLabel: DeviceLabel): string | null {
  const { key, values } = wording;
  if (key === 'device' && typeof values['id'] === 'string') {
    const { id, name } = values;
    return deviceLabel(id) ?? (typeof name === 'string' ? name : id);
  }
  if (key === 'bytes' && typeof values['bytes'] === 'number') return texts.format.fileSize(values['bytes']);
  if (key === 'count' && typeof values['count'] === 'number') return texts.format.integer(values['count']);
  const place = key.startsWith('error.') ? key : `engine.${key}`;
  const pattern = texts.lookUp(place);
  if (pattern === null) return null;
  const filled: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(values)) {
    const words = typeof value === 'object' ? inOwnWords(value, texts, deviceLabel) : value;
    if (words === null) return null;
    filled[name] = name === 'device' && typeof words === 'string' ? (deviceLabel(words) ?? words) : words;
  }
  const sentence = texts.lookUp(place, filled);
  if (sentence === null) return null;
  // The name of a file keeps its case.
  return pattern.startsWith('{') ? sentence : capitalised(sentence);
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
