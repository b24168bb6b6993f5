import { describe, expect, it } from 'vitest';
import { blastAddress, blastSearchSchema, exportFileName, exportScope, runFileStem } from './exports.ts';
import {
  appError,
  AppFailure,
  asAppError,
  causeOf,
  nextStepOf,
  titleOf,
  err,
  failWith,
  ok,
  unwrap,
  usage,
} from './errors.ts';
import { CANDIDATES } from './evidence.ts';
import { goalText, parseGoal } from './goal.ts';
import { LIMITS } from './limits.ts';
import { message, MESSAGES } from './messages.ts';
import { isActive, isAtWork, type RunState } from './runState.ts';

describe('errors', () => {
  const worded = message('run.at_work');

  it('take the next step that belongs to the message of their cause, with its values', () => {
    const cause = message('offline.platform', { platform: 'win32-x64', here: 'linux-x64' });
    const error = appError('offline_folder_unusable', cause);
    expect(error.nextStep).toContain('linux-x64');
    expect(error.wording?.nextStep?.key).toBe('offline.platform.next');
    expect(appError('usage', cause, { nextStep: 'Wait.' }).nextStep).toBe('Wait.');
  });

  it('give the values of a cause to its next step', () => {
    const texts: Readonly<Record<string, string>> = MESSAGES;
    for (const [key, text] of Object.entries(texts).filter(([name]) => name.endsWith('.next')))
      for (const [name] of text.matchAll(/\{\w+\}/g)) expect(texts[key.slice(0, -5)]).toContain(name);
  });

  it('take the usual next step of their code or a specific one, and carry the message keys of both', () => {
    const usual = { key: 'error.disk_full.next', values: {} };
    const plain = appError('disk_full', 'No space.');
    expect(plain).toEqual({
      code: 'disk_full',
      title: plain.title,
      cause: 'No space.',
      nextStep: plain.nextStep,
      wording: { nextStep: usual },
    });
    expect(plain.nextStep).not.toBe('');
    expect(appError('disk_full', 'No space.', { nextStep: 'Wait.', detail: 'ENOSPC' })).toEqual({
      code: 'disk_full',
      title: plain.title,
      cause: 'No space.',
      nextStep: 'Wait.',
      detail: 'ENOSPC',
    });
    expect(appError('disk_full', worded).wording).toEqual({ cause: worded.wording, nextStep: usual });
    expect(appError('disk_full', 'No space.', { nextStep: worded }).wording).toEqual({
      nextStep: worded.wording,
    });
    const both = appError('disk_full', worded, { nextStep: worded });
    expect([causeOf(both), nextStepOf(both)]).toEqual([worded, worded]);
    expect([causeOf(plain), nextStepOf(plain)]).toEqual([
      { text: 'No space.', wording: null },
      { text: plain.nextStep, wording: usual },
    ]);
    expect(titleOf(plain)).toEqual({
      text: plain.title,
      wording: { key: 'error.disk_full.title', values: {} },
    });
  });

  it('pass through code that can only throw', () => {
    const error = appError('disk_full', 'No space.');
    expect(() => unwrap(err(error))).toThrow(new AppFailure(error));
    expect(unwrap(ok(7))).toBe(7);
    expect(new AppFailure(error)).toMatchObject({
      name: 'AppFailure',
      message: `${error.title}: No space.`,
      error,
    });
    expect(asAppError(new AppFailure(error))).toBe(error);
    const thrown = new Error('odd');
    expect(asAppError(thrown)).toMatchObject({ code: 'internal', cause: 'odd', detail: thrown.stack });
    expect(asAppError('odd')).not.toHaveProperty('detail');
    expect(usage('Too many.', 'Take fewer.')).toEqual(
      new AppFailure(appError('usage', 'Too many.', { nextStep: 'Take fewer.' })),
    );
    expect(failWith('disk_full', 'No space.', { detail: 'ENOSPC' })).toEqual(
      err(appError('disk_full', 'No space.', { detail: 'ENOSPC' })),
    );
  });
});

describe('the name of an exported file', () => {
  const done: RunState = { phase: 'done', failedParts: 0, failedRecords: 0 };
  const run = { runName: 'Gut March: /1', model: { notice: null }, state: done };
  const teaching = { ...run, model: { notice: 'teaching model' } };

  it('names the run, and marks results that are provisional or not for research', () => {
    expect(runFileStem(run)).toBe('Gut_March_1');
    expect(runFileStem(teaching)).toBe('Gut_March_1_NOT_FOR_RESEARCH');
    expect(runFileStem({ ...teaching, runName: 'sample_NOT_FOR_RESEARCH' })).toBe('sample_NOT_FOR_RESEARCH');
    expect(runFileStem({ ...run, state: { phase: 'running' } })).toBe('Gut_March_1_provisional');
    expect(runFileStem({ ...run, runName: '../..' })).toBe('run');
    expect(runFileStem({ ...run, runName: 'ä'.repeat(100) })).toBe('ä'.repeat(80));
  });

  it('names its content', () => {
    const file = { ...run, runName: 'a', scope: 'virus', sequences: 17 } as const;
    expect(exportFileName({ ...file, format: { ending: '_proteins.faa', isOfWholeRun: false } })).toBe(
      'a_virus_17_proteins.faa',
    );
    expect(exportFileName({ ...file, format: { ending: '_devices.csv', isOfWholeRun: true } })).toBe(
      'a_devices.csv',
    );
  });

  it('names the selection in one word', () => {
    expect(exportScope({})).toBe('all');
    expect(exportScope({ predictions: undefined })).toBe('all');
    expect(exportScope({}, [1])).toBe('selected');
    expect(exportScope({ predictions: ['virus'] })).toBe('virus');
    expect(exportScope({ predictions: ['others'] })).toBe('selected');
    expect(exportScope({ predictions: ['virus'], minLength: 5 })).toBe('selected');
    expect(exportScope(CANDIDATES)).toBe('candidates');
    expect(exportScope({ shortlisted: true })).toBe('shortlist');
    expect(exportScope({ ...CANDIDATES, minLength: 5 })).toBe('selected');
    expect(exportScope({ ...CANDIDATES, minScore: 0.5 })).toBe('selected');
    expect(exportScope({ predictions: ['virus'], evidence: ['moderate', 'strong'] })).toBe('selected');
  });
});

describe('a search with BLAST', () => {
  it('sends nothing to NCBI but letters, and only as many as fit into an address', () => {
    expect(blastAddress({ program: 'blastn', query: 'ACGT' })).toBe(
      'https://blast.ncbi.nlm.nih.gov/Blast.cgi?PAGE_TYPE=BlastSearch&PROGRAM=blastn&QUERY=ACGT',
    );
    expect(blastAddress({ program: 'blastp', query: '' })).toMatch(/PROGRAM=blastp$/);
    const isTaken = (search: object) => blastSearchSchema.safeParse(search).success;
    expect(isTaken({ program: 'blastp', query: 'MKV-*' })).toBe(true);
    expect(isTaken({ program: 'blastx', query: '' })).toBe(false);
    for (const query of ['A&B', '&AB', 'AB ']) expect(isTaken({ program: 'blastn', query })).toBe(false);
    const room = LIMITS.url - blastAddress({ program: 'blastn', query: 'A' }).length + 1;
    expect(isTaken({ program: 'blastn', query: 'A'.repeat(room) })).toBe(true);
    expect(isTaken({ program: 'blastn', query: 'A'.repeat(room + 1) })).toBe(false);
  });
});

it('a run is at work while the engine computes it, not when it was cut off or its folder is missing', () => {
  const phases = ['created', 'running', 'pausing', 'draining', 'paused', 'finishing', 'done', 'cancelled'];
  expect(phases.filter((phase) => isActive({ phase }))).toEqual([
    'running',
    'pausing',
    'draining',
    'finishing',
  ]);
  const run = { state: { phase: 'running' }, interrupted: false, missing: false } as const;
  expect(isAtWork(run)).toBe(true);
  expect(isAtWork({ ...run, state: { phase: 'created' } })).toBe(false);
  expect(isAtWork({ ...run, state: { phase: 'created' }, starting: true })).toBe(true);
  expect(isAtWork({ ...run, interrupted: true })).toBe(false);
  expect(isAtWork({ ...run, missing: true })).toBe(false);
});

describe('a goal', () => {
  it('reads back the text that it writes', () => {
    for (const text of ['0.5%', '12.25%', '45s', '30min', '8h', '2d']) {
      const goal = parseGoal(text);
      expect(goal && goalText(goal)).toBe(text);
    }
    expect(parseGoal('0.5 %')).toEqual({ kind: 'half_width', share: 0.005 });
    expect(parseGoal('90min')).toEqual({ kind: 'time', seconds: 5400, from: 0 });
  });

  it('refuses any other text', () => {
    for (const text of ['', 'end', 'settled', '0%', '51%', '-1%', '0min', '30', '5 weeks', '1e9%'])
      expect(parseGoal(text)).toBeNull();
  });
});
