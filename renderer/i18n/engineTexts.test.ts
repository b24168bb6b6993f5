import { describe, expect, it } from 'vitest';
import {
  appError,
  bytesNamed,
  deviceNamed,
  message,
  MESSAGES,
  type MessageValues,
} from '../../electron/contract/index.ts';
import en from './en.ts';
import { inOwnWords } from './engineTexts.ts';
import { CATALOGUES, createTexts, type Language } from './index.ts';

const KEYS = Object.keys(MESSAGES) as (keyof typeof MESSAGES)[];
const namesIn = (text: string) => [...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name);
const labels = (id: string) => (id === 'cpu:0' ? 'Prozessor 1' : null);
const own = (engineText: ReturnType<typeof message>, language: Language) =>
  engineText.wording && inOwnWords(engineText.wording, createTexts(language), labels);

describe('engine messages', () => {
  it('are in every catalogue, with no placeholder that the engine does not fill', () => {
    const missing = Object.entries(CATALOGUES).flatMap(([language, catalogue]) =>
      KEYS.filter((key) => {
        const text = new Map(Object.entries(catalogue)).get(`engine.${key}`);
        const given = namesIn(MESSAGES[key]);
        return text === undefined || namesIn(text).some((name) => !given.includes(name));
      }).map((key) => `${language}: ${key}`),
    );
    expect(missing).toEqual([]);
  });

  it('are translated into German', () => {
    const say = message as (key: string, values: Record<string, string>) => ReturnType<typeof message>;
    const untranslated = KEYS.filter((key) => {
      if (!/[a-z]/i.test(MESSAGES[key].replaceAll(/\{\w+\}|Python|PyTorch/g, ''))) return false;
      const engineText = say(
        key,
        Object.fromEntries(namesIn(MESSAGES[key]).map((name) => [name ?? '', 'x'])),
      );
      return own(engineText, 'de') === engineText.text;
    });
    expect(untranslated).toEqual([]);
  });

  it('are the only ones that the catalogues have', () => {
    const made = Object.keys(CATALOGUES.de).filter((key) => key.startsWith('engine.'));
    const known = new Set(KEYS.map((key) => `engine.${key}`));
    expect(made.filter((key) => !known.has(key))).toEqual([]);
  });

  it('have an English override only where it differs from the engine’s text', () => {
    const ours = new Map<string, string>(Object.entries(en));
    const twice = KEYS.filter((key) => ours.get(`engine.${key}`) === MESSAGES[key]);
    expect(twice).toEqual([]);
  });

  it('are translated inside other sentences too, with devices named as in the window', () => {
    const device = deviceNamed({ id: 'cpu:0', name: 'AMD EPYC' });
    const cause = message('worker.stopped', { device: 'cpu:0', how: message('exit.killed') });
    const engineText = message('note.worker_restarts', {
      device,
      cause,
    } satisfies MessageValues<'note.worker_restarts'>);
    expect(engineText.text).toBe(
      'AMD EPYC stopped and is started again. Nothing is lost. Reason: The worker of cpu:0 stopped: it was killed, most often because the computer ran out of memory.',
    );
    expect(own(engineText, 'de')).toBe(
      'Prozessor 1 ist ausgefallen und startet neu. Nichts ist verloren. Grund: Wurde beendet, meist weil dem Rechner der Speicher ausging.',
    );
  });

  it('have sizes formatted for the language', () => {
    const free = bytesNamed(6.8e9, '6.8 GB');
    expect(own(message('check.gpu', { name: 'H200', free }), 'de')).toBe('H200 (6,8\u00a0GB frei).');
  });

  it('keep the name of a file unchanged at the start of a sentence', () => {
    const engineText = message('start.folder_not_ours', { folder: 'results', file: 'a.txt' });
    expect(own(engineText, 'en')).toBe('results holds other files, such as a.txt.');
  });

  it('have typographic quotation marks in the window, and straight ones in the terminal', () => {
    const engineText = message('model.lacks', { model: 'ours', path: 'model.json' });
    expect(engineText.text).toBe('The model "ours" lacks model.json.');
    expect(own(engineText, 'en')).toBe('The model “ours” lacks model.json.');
  });

  it('stay as they are if one part of the sentence has no key', () => {
    const cause = { text: 'odd', wording: null };
    expect(own(message('note.state_not_stored', { cause }), 'de')).toContain('odd');
    expect(inOwnWords({ key: 'unheard_of', values: {} }, createTexts('de'), labels)).toBeNull();
    // An older program may have written the event without a value that the sentence needs today.
    expect(inOwnWords({ key: 'note.halted', values: {} }, createTexts('de'), labels)).toBeNull();
  });

  it('come with errors, whose text stays as it is for the command line', () => {
    const error = appError('usage', message('run.at_work'), { nextStep: 'Wait.' });
    expect(error.cause).toBe('The run is already being computed.');
    expect(error.wording).toEqual({ cause: { key: 'run.at_work', values: {} } });
  });
});
