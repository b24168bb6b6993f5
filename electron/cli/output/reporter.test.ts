import { afterEach, expect, it, vi } from 'vitest';
import { createReporter, type ReporterKind } from './reporter.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

async function written(kind: ReporterKind): Promise<string[]> {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      lines.push(String(text).trimEnd());
      return true;
    });
  const reporter = await createReporter(kind, false);
  const note = { time: 0, code: 'x', wording: null, detail: null };
  reporter.line('on the way');
  reporter.note({ ...note, level: 'warning', message: 'lower-case letters' });
  reporter.note({ ...note, level: 'error', message: 'a device was switched off' });
  reporter.wrong('2 files could not be used');
  reporter.end();
  return lines;
}

it('prints with -q only what went wrong in a run that continues', async () => {
  expect(await written('quiet')).toEqual(['a device was switched off', '2 files could not be used']);
  expect(await written('lines')).toHaveLength(4);
});

it('gives programs everything as JSON', async () => {
  const events = (await written('json')).map((line) => JSON.parse(line) as { type: string });
  expect(events.map(({ type }) => type)).toEqual(['message', 'note', 'note', 'message']);
});
