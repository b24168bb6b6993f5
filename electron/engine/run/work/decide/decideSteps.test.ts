/**
 * Tests what follows from each event, step by step; decideWork.test.ts tests the invariants that always hold.
 */
import { describe, expect, it } from 'vitest';
import { appError } from '../../../../contract/errors.ts';
import type { StoredPart } from '../../../store/types.ts';
import { type WorkEvent, newWorkState, type ComputedBy } from './workState.ts';
import { decideWork } from './decideWork.ts';
import {
  DIED,
  died,
  done,
  ended,
  failed,
  part,
  read,
  ready,
  registered,
  started,
} from './testing/workEvents.ts';

const DISK = appError('disk_full', 'No space.');

const stored = (key: string, outcome = 'taken') =>
  ({ type: 'scores_stored', key, intake: { outcome, message: 'bits' } }) as WorkEvent;

/** An effect on one line: its type and values; messages by their keys. */
function line({ type, ...rest }: { type: string }): string {
  return [type, ...Object.values(rest).map(inShort)].join(' ');
}

function inShort(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map(inShort).join('+');
  const {
    wording,
    text,
    key,
    part: done,
    code,
    cause,
    detail,
    values,
    device,
    ...rest
  } = value as Record<string, unknown>;
  if (text !== undefined) return inShort(wording ?? text);
  if (cause !== undefined) {
    const reason = (wording as { cause?: unknown } | undefined)?.cause ?? cause;
    return `${inShort(code)}(${inShort(reason)}${detail === undefined ? '' : `: ${inShort(detail)}`})`;
  }
  if (values !== undefined)
    return `${inShort(key)}(${Object.values(values as object)
      .map(inShort)
      .join()})`;
  if (key !== undefined || device !== undefined) return inShort(key ?? device);
  return [code, ...Object.values(rest), done]
    .filter((each) => each !== undefined)
    .map(inShort)
    .join('/');
}

/** The device `cpu` is a processor. */
function session(devices: readonly string[], computedBy: ComputedBy = 'devices') {
  const state = newWorkState(
    devices.map((id) => ({ id, name: id.toUpperCase(), kind: id })),
    computedBy,
  );
  /** The effects of these events, one per line. */
  const after = (...events: WorkEvent[]): string[] =>
    events.flatMap((event) => decideWork(state, event).map(line));
  return { state, after };
}

/** Two workers, `a` and `b`, with two parts each, and one part that waits. */
function atWork(keys = ['1', '2', '3', '4', '5']) {
  const it = session(['a', 'b']);
  const parts = keys.map((key) => part(key));
  it.after(started(parts));
  it.after(ready('a'), ready('b'));
  return it;
}

describe('a session of work', () => {
  it('starts devices and prepare, hands out parts, and ends when all are stored', () => {
    const { after } = session(['a', 'b']);
    const parts = [part('1'), part('2')];
    expect(after(started(parts, { prepared: false }))).toEqual([
      'start_monitor',
      'start_worker a',
      'start_worker b',
      'start_prepare',
    ]);
    expect(after({ type: 'worker_starting', device: 'a' }, { type: 'worker_loading', device: 'a' })).toEqual([
      'show_worker a starting',
      'show_worker a loading',
    ]);
    expect(after(ready('a'))).toEqual([
      'show_worker a idle',
      'assign a 1',
      'show_worker a working/1',
      'assign a 2',
      'show_worker a working/1',
    ]);
    expect(after(registered('3', 'new'), registered('1', 'known'))).toEqual(['read_part 3', 'read_part 1']);
    expect(after({ type: 'prepared' })).toEqual([]);
    expect(after(read(part('3')), read(part('1')))).toEqual([]);
    expect(after(ready('b'))).toEqual(['show_worker b idle', 'assign b 3', 'show_worker b working/3']);
    expect(after(done('a', '1'), stored('1'), done('a', '2'), stored('2'))).toEqual([
      'show_worker a working/2',
      'store_scores 1',
      'show_worker a idle',
      'store_scores 2',
    ]);
    expect(after(done('b', '3'))).toEqual(['show_worker b idle', 'store_scores 3']);
    expect(after(stored('3'))).toEqual(['settled']);
    expect(after({ type: 'drain' }, done('a', '1'), { type: 'prepare_failed', error: DISK })).toEqual([]);
  });

  it('gives an idle worker, towards the end, a part that another has not begun', () => {
    const { after } = session(['a', 'b']);
    const parts = [part('1'), part('2')];
    after(started(parts), ready('a'));
    expect(after(ready('b'))).toEqual(['show_worker b idle', 'recall a 2']);
    expect(after(failed('a', '2', 'recalled'))).toEqual([
      'show_worker a working/1',
      'end_attempt 2 recalled null',
      'assign b 2',
      'show_worker b working/2',
    ]);
    expect(after(ended('2', 'recalled'))).toEqual([]);
  });

  it('gives processors only parts of the first round until all inputs are read', () => {
    const { after } = session(['cpu', 'gpu']);
    const parts = ['1', '2', '3', '4', '5'].map((key) => part(key, { round: key === '1' ? 0 : 1 }));
    after(started(parts, { prepared: false }));
    const assigned = (effects: string[]) =>
      effects.flatMap((effect) => /^assign (\w+)/.exec(effect)?.[1] ?? []);
    expect(assigned(after(ready('cpu'), ready('gpu')))).toEqual(['cpu', 'gpu', 'gpu']);
    expect(assigned(after(done('cpu', '1'), stored('1')))).toEqual([]);
    expect(assigned(after({ type: 'prepared' }))).toEqual(['cpu', 'cpu']);
  });

  it('finishes what was begun when it is drained, and starts nothing', () => {
    const { after } = atWork();
    expect(after({ type: 'drain' })).toEqual(['recall a 2', 'recall b 4']);
    expect(after({ type: 'drain' })).toEqual([]);
    expect(after(failed('a', '2', 'recalled'), failed('b', '4', 'recalled'))).toEqual([
      'show_worker a working/1',
      'end_attempt 2 recalled null',
      'show_worker b working/3',
      'end_attempt 4 recalled null',
    ]);
    expect(after(done('a', '1'), done('b', '3'), stored('1'), stored('3'))).toEqual([
      'show_worker a idle',
      'store_scores 1',
      'show_worker b idle',
      'store_scores 3',
    ]);
    expect(after(ended('2', 'recalled'))).toEqual([]);
    expect(after(ended('4', 'recalled'))).toEqual(['drained']);
  });

  it('accepts parts that are offered again, and drops those that are skipped', () => {
    const { after } = atWork(['1']);
    expect(after({ type: 'parts_offered', parts: [part('8', { attempts: 1 }), part('9')] })).toEqual([
      'assign b 9',
      'show_worker b working/9',
    ]);
    const waiting = atWork();
    expect(waiting.after({ type: 'part_withdrawn', key: '5' })).toEqual([]);
    expect(waiting.after(done('a', '1'), stored('1'))).toEqual(['show_worker a working/2', 'store_scores 1']);
  });

  it('passes on reports from workers, and halts on errors of the store and prepare', () => {
    const { after } = atWork();
    expect(
      after(
        { type: 'worker_note', device: 'a', level: 'info', message: 'warm' },
        {
          type: 'out_of_memory',
          device: 'a',
          oom: { tokens_per_batch_before: 64, tokens_per_batch_after: 32 },
        } as WorkEvent,
        { type: 'heartbeat', device: 'a' } as WorkEvent,
      ),
    ).toEqual([
      'note info worker_note note.worker(device(a,A),warm)',
      'note warning smaller_batches note.smaller_batches(device(a,A),32,64)',
    ]);
    expect(after({ type: 'store_failed', error: DISK })).toEqual(['halt disk_full(No space.)']);
    expect(session(['a']).after({ type: 'prepare_failed', error: DISK })).toEqual([
      'halt disk_full(No space.)',
    ]);
    expect(atWork().after({ type: 'stop' }, ready('a'))).toEqual(['show_worker a working/1']);
    expect(atWork().after({ type: 'stop' }, { type: 'worker_stopped', device: 'a' }).at(-1)).toBe(
      'show_worker a stopped',
    );
    expect(session(['a']).after({ type: 'stop' }, started([part('1')]))).toEqual([]);
  });
});

describe('workers', () => {
  it('that die give their parts back, and are switched off if they are not restarted', () => {
    const { after } = atWork();
    expect(after(died('a', 1))).toEqual([
      'note warning worker_died note.worker_restarts(device(a,A),It stopped.) a trace',
      'show_worker a working/2',
      'end_attempt 1 worker_lost internal_error/It stopped.',
      'show_worker a idle',
      'end_attempt 2 worker_lost internal_error/It stopped.',
      'show_worker a restarting/1/worker_died(It stopped.: a trace)',
    ]);
    expect(after(died('a', null))).toEqual([
      'note warning worker_died note.worker_failed(device(a,A),It stopped.) a trace',
      'show_worker a switched_off/worker_died(It stopped.: a trace)',
      'record_switched_off a worker_died(It stopped.: a trace)',
      'note error device_switched_off note.switched_off(device(a,A),It stopped.)',
    ]);
    expect(after(died('b', null))).toEqual([
      'note warning worker_died note.worker_failed(device(b,B),It stopped.) a trace',
      'show_worker b working/4',
      'end_attempt 3 worker_lost internal_error/It stopped.',
      'show_worker b idle',
      'end_attempt 4 worker_lost internal_error/It stopped.',
      'show_worker b switched_off/worker_died(It stopped.: a trace)',
      'record_switched_off b worker_died(It stopped.: a trace)',
      'note error device_switched_off note.switched_off(device(b,B),It stopped.)',
      'halt no_usable_device(It stopped.: a trace)',
    ]);
  });

  it('are stopped and started when the user excludes and includes a device', () => {
    const { after } = atWork();
    expect(after({ type: 'exclude_device', device: 'a' })).toEqual(['stop_worker a']);
    expect(after({ type: 'exclude_device', device: 'a' })).toEqual([]);
    expect(after({ type: 'worker_stopped', device: 'a' })).toEqual([
      'show_worker a working/2',
      'end_attempt 1 interrupted null',
      'show_worker a idle',
      'end_attempt 2 interrupted null',
      'show_worker a stopped',
      'show_worker a excluded',
      'note info device_excluded note.excluded(device(a,A))',
    ]);
    expect(after({ type: 'include_device', device: 'a' })).toEqual([
      'note info device_included note.included(device(a,A))',
      'start_worker a',
    ]);
    expect(after({ type: 'exclude_device', device: 'b' }, { type: 'include_device', device: 'b' })).toEqual([
      'stop_worker b',
      'note info device_included note.included(device(b,B))',
    ]);
    expect(after({ type: 'worker_stopped', device: 'b' })).toEqual([
      'show_worker b working/4',
      'end_attempt 3 interrupted null',
      'show_worker b idle',
      'end_attempt 4 interrupted null',
      'show_worker b stopped',
      'start_worker b',
    ]);
    const alone = session(['a']);
    alone.after(started([part('1')]), ready('a'));
    expect(
      alone.after({ type: 'exclude_device', device: 'a' }, { type: 'worker_stopped', device: 'a' }),
    ).toEqual([
      'stop_worker a',
      'show_worker a idle',
      'end_attempt 1 interrupted null',
      'show_worker a stopped',
      'show_worker a excluded',
      'note info device_excluded note.excluded(device(a,A))',
      'halt no_usable_device(halt.all_excluded())',
    ]);
  });

  it('whose scores are damaged three times in a row lose their device', () => {
    const { after } = atWork();
    expect(after(done('a', '1'), stored('1', 'scores_damaged'))).toEqual([
      'show_worker a working/2',
      'store_scores 1',
      'assign a 5',
      'show_worker a working/2',
      'note warning scores_damaged note.scores_damaged(1) bits',
    ]);
    expect(after(done('a', '2'), stored('2', 'scores_damaged'))).toEqual([
      'show_worker a working/5',
      'store_scores 2',
      'note warning scores_damaged note.scores_damaged(2) bits',
    ]);
    expect(after(done('a', '5'), stored('5', 'scores_damaged'))).toEqual([
      'show_worker a idle',
      'store_scores 5',
      'note warning scores_damaged note.scores_damaged(5) bits',
      'stop_worker a',
      'show_worker a switched_off/device_switched_off(device.damaged(3): bits)',
      'record_switched_off a device_switched_off(device.damaged(3): bits)',
      'note error device_switched_off note.switched_off(device(a,A),device.damaged(3))',
    ]);
    expect(after({ type: 'worker_stopped', device: 'a' })).toEqual([]);
    expect(after({ type: 'include_device', device: 'a' })).toEqual([
      'note info device_included note.included(device(a,A))',
      'record_switched_off a null',
      'start_worker a',
    ]);
  });
});

describe('parts', () => {
  it('that fail again and again are split, and are failed by name if they cannot be', () => {
    const { after } = atWork(['1']);
    expect(after(failed('a', '1', 'out_of_memory'))).toEqual([
      'show_worker a idle',
      'end_attempt 1 worker_lost out_of_memory/no',
      'assign a 1',
      'show_worker a working/1',
    ]);
    after(ended('1', 'worker_lost'));
    after(failed('a', '1', 'out_of_memory'));
    after(ended('1', 'worker_lost'));
    expect(after(failed('a', '1', 'out_of_memory'))).toEqual([
      'show_worker a idle',
      'end_attempt 1 worker_lost out_of_memory/no',
      'split_part 1 out_of_memory/no',
    ]);
    const failure = { code: 'out_of_memory' as const, message: 'no' };
    after(ended('1', 'worker_lost'));
    const split = (outcome: string, children: StoredPart[] = [], key = '1') =>
      ({
        type: 'part_split',
        key,
        split: { outcome, message: 'torn' },
        children,
        failure,
      }) as unknown as WorkEvent;
    expect(after(split('split', [part('1.a'), part('1.b')]))).toEqual([
      'note warning part_bisected note.part_bisected(1)',
      'assign a 1.a',
      'show_worker a working/1.a',
    ]);
    expect(after(failed('a', '1.a', 'out_of_memory'), split('indivisible', [], '1.a'))).toContain(
      'assign a 1.a',
    );
    expect(after(failed('a', '1.a', 'out_of_memory'), split('indivisible', [], '1.a'))).toEqual([
      'show_worker a idle',
      'end_attempt 1.a worker_lost out_of_memory/no',
      'split_part 1.a out_of_memory/no',
      'give_up_part 1.a out_of_memory/no',
    ]);
    expect(
      after({
        type: 'part_given_up',
        key: '1.a',
        failing: { outcome: 'failed' },
        failure,
      } as unknown as WorkEvent),
    ).toEqual([
      'note error part_failed note.part_failed(1.a,error.out_of_memory.sentence()) no',
      'assign a 1.b',
      'show_worker a working/1.b',
    ]);
    const thrice = Array.from({ length: 3 }, () => failed('a', '1', 'out_of_memory'));
    const damaged = atWork(['1']);
    damaged.after(...thrice);
    expect(damaged.after(split('part_damaged'))).toEqual([
      'note warning part_file_damaged note.part_file_damaged(1) torn',
      'invalidate_prepare',
    ]);
    const superseded = atWork(['1']);
    superseded.after(...thrice);
    superseded.after(...Array.from({ length: 3 }, () => ended('1', 'worker_lost')));
    expect(superseded.after(split('superseded'), read())).toEqual(['read_part 1', 'settled']);
    expect(
      atWork(['1']).after({
        type: 'part_given_up',
        key: '1',
        failing: { outcome: 'part_damaged', message: 'torn' },
        failure,
      } as unknown as WorkEvent),
    ).toEqual(['note warning part_file_damaged note.part_file_damaged(1) torn', 'invalidate_prepare']);
  });

  it('of another reading of the inputs are not handed out any more, and take the place of those in work', () => {
    const { state, after } = session(['a']);
    const old = ['1', '2', '3', '4'].map((key) => part(key, { lastRow: Number(key) }));
    after(started(old, { prepared: false }), ready('a'));
    after({ type: 'input_left_out', input: 0, firstRow: 2 });
    expect(state.queue.waitingCount).toBe(0);
    after(done('a', '1'), stored('1'));
    after(registered('2', 'new'), read(part('2', { lastRow: 9 })), { type: 'prepared' });
    expect(after(done('a', '2'), stored('2', 'superseded'), read(part('2', { lastRow: 9 })))).toEqual([
      'show_worker a idle',
      'store_scores 2',
      'read_part 2',
      'assign a 2',
      'show_worker a working/2',
    ]);
    expect(after(done('a', '2'), stored('2'))).toContain('settled');
  });

  it('whose file is lost are prepared again, at most three times', () => {
    const { after } = atWork(['7']);
    expect(after(failed('a', '7', 'part_unreadable'))).toEqual([
      'show_worker a idle',
      'end_attempt 7 damaged part_unreadable/no',
    ]);
    const damaged: WorkEvent = {
      type: 'attempt_ended',
      key: '7',
      outcome: 'damaged',
      failure: { code: 'part_unreadable', message: 'gone' },
    };
    expect(after(damaged)).toEqual([
      'note warning part_file_damaged note.part_file_damaged(7) gone',
      'invalidate_prepare',
    ]);
    expect(after({ type: 'prepare_invalidated' })).toEqual(['start_prepare']);
    const again = (): string[] =>
      after(
        registered('7', 'known'),
        read(part('7')),
        { type: 'prepared' },
        failed('a', '7', 'part_unreadable'),
        damaged,
        { type: 'prepare_invalidated' },
      );
    expect(again()).toEqual([
      'read_part 7',
      'assign a 7',
      'show_worker a working/7',
      'show_worker a idle',
      'end_attempt 7 damaged part_unreadable/no',
      'note warning part_file_damaged note.part_file_damaged(7) gone',
      'invalidate_prepare',
      'start_prepare',
    ]);
    again();
    expect(
      after(
        registered('7', 'replaced'),
        read(part('7')),
        { type: 'prepared' },
        done('a', '7'),
        stored('7', 'part_damaged'),
      ),
    ).toEqual([
      'read_part 7',
      'assign a 7',
      'show_worker a working/7',
      'show_worker a idle',
      'store_scores 7',
      'note warning part_file_damaged note.part_file_damaged(7) bits',
      'halt work_files_damaged(error.work_files_damaged.sentence(): bits)',
    ]);
  });

  it('found damaged before the start wait for prepare, and a dropped input makes prepare start again', () => {
    const { after } = session(['a']);
    const parts = [part('1'), part('2')];
    expect(after(started(parts, { lost: ['2'] }))).toEqual([
      'start_monitor',
      'start_worker a',
      'invalidate_prepare',
    ]);
    expect(
      after(
        { type: 'prepare_invalidated' },
        { type: 'prepared' },
        { type: 'input_left_out', input: 0, firstRow: 0 },
      ),
    ).toEqual(['start_prepare', 'start_prepare', 'start_prepare']);
    // The lost part may have been one of the dropped input.
    expect(after({ type: 'prepared' })).not.toContain('start_prepare');
    const nothing = session(['a']);
    expect(nothing.after(started([]))).toEqual(['settled']);
  });

  it.each(['disk_full', 'folder_unwritable'] as const)('halt the run at %s', (code) => {
    expect(atWork(['1']).after(failed('a', '1', code))[2]).toMatch(`halt ${code}(error.${code}.sentence(`);
  });
});

it('starts the shares of a cluster once all parts are prepared, or stops if nothing should be computed', () => {
  const parts = [part('1'), part('2')];
  const { after } = session([], 'shares');
  expect(after(started(parts))).toEqual(['start_shares']);
  expect(after({ type: 'shares_merged', keys: ['2'] })).toEqual([]);
  expect(after({ type: 'shares_merged', keys: ['1'] })).toEqual(['settled']);
  expect(session([], 'shares').after({ type: 'shares_failed', error: DIED })).toEqual([
    'halt worker_died(It stopped.: a trace)',
  ]);
  expect(session([], 'nothing').after(started(parts))).toEqual(['prepared']);
  expect(session([], 'nothing').after(started([]))).toEqual(['settled']);
});

it('ignores devices that are not part of the run, and parts that were not handed out', () => {
  const { after, state } = session(['a']);
  expect(() => after({ type: 'exclude_device', device: 'z' })).toThrow('z');
  expect(() => state.queue.trialOf('9')).toThrow('9');
});
