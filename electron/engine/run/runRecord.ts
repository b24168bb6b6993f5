import {
  appError,
  appFailure,
  type AppError,
  asAppError,
  causeOf,
  err,
  failWith,
  ok,
  type Result,
} from '../../contract/errors.ts';
import { goalText, type Goal } from '../../contract/goal.ts';
import { message } from '../../contract/messages.ts';
import type { Annotation, RunRequest } from '../../contract/rpc/runs.ts';
import { isActive, type Damage, type RunState } from '../../contract/runState.ts';
import type { PlanInput } from '../../contract/plan.ts';
import { NO_DETAILS, sampleNames, type SampleDetails } from '../../contract/samples.ts';
import type { RunStore } from '../store/runStore.ts';
import type { RunDevice, RunOptions, StoredRun } from '../store/types.ts';
import { RunNotes, type RunNote } from './runNotes.ts';

export type RunListener = (
  change: { type: 'state'; state: RunState } | { type: 'note'; note: RunNote },
) => void;

/** A run as stored in its database, with its notes and the listeners for changes of either. */
export class RunRecord {
  readonly notes: RunNotes;
  readonly store: RunStore;
  private readonly listeners = new Set<RunListener>();
  private now: StoredRun;
  private workedMs: number;
  /** A reading of a monotonic clock: when this process last changed the state to one in which the run works. */
  private workingSince: number | undefined;
  private advancing: Promise<unknown> = Promise.resolve();

  constructor(store: RunStore, stored: StoredRun, workedMs: number) {
    this.store = store;
    this.workedMs = workedMs;
    this.now = stored;
    this.notes = new RunNotes(store, (note) => {
      for (const listener of this.listeners) listener({ type: 'note', note });
    });
  }

  /** The run as in the database, including changes since it was read. */
  get stored(): StoredRun {
    return this.now;
  }

  get state(): RunState {
    return this.now.state;
  }

  /** How long the run has worked: of a resting run, what its database says, as in the list of runs and in the report. */
  get elapsedSeconds(): number {
    const { workedMs, workingSince: since } = this;
    return (since === undefined ? workedMs : workedMs + performance.now() - since) / 1000;
  }

  /** The request with which it was created. */
  get request(): RunRequest {
    return storedRequest(this.stored, this.store.folder);
  }

  subscribe(listener: RunListener): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /**
   * The only place where the state changes, one event after the other: the change is stored first, then
   * visible here and to all listeners.
   */
  advance(event: LifecycleEvent): Promise<Result<void>> {
    const advanced = this.advancing.then(() => this.take(event));
    this.advancing = advanced;
    return advanced;
  }

  private async take(event: LifecycleEvent): Promise<Result<void>> {
    const next = transition(this.stored.state, event);
    if (!next.ok) return err(next.error);
    this.notes.log.line('info', `The run is ${describePhase(next.state)}.`);
    let workedMs = 1000 * this.elapsedSeconds;
    try {
      await this.store.setState(next.state);
      workedMs = (await this.store.timings()).workingMilliseconds;
    } catch (reason) {
      // A full disk must not hide that the run has stopped; a reopened run detects it by itself.
      this.notes.add(
        'error',
        'state_not_stored',
        message('note.state_not_stored', { cause: causeOf(asAppError(reason)) }),
      );
    }
    this.workedMs = workedMs;
    this.workingSince = isActive(next.state) ? performance.now() : undefined;
    this.now = { ...this.stored, state: next.state };
    for (const listener of this.listeners) listener({ type: 'state', state: next.state });
    return ok(undefined);
  }

  /** Rereads what prepare has stored meanwhile. */
  async reload(): Promise<void> {
    const read = await this.store.loadRun();
    this.now = { ...read, state: this.stored.state };
  }

  async rename(name: string): Promise<Result<void>> {
    await this.store.rename(name);
    this.now = { ...this.stored, description: { ...this.stored.description, name } };
    return ok(undefined);
  }

  async saveGoal(goal: Goal | null): Promise<void> {
    await this.store.setGoal(goal);
    this.describeWith({ goal });
  }

  async annotate(annotation: Annotation): Promise<Result<void>> {
    await this.store.annotate(annotation);
    this.describeWith({ annotation });
    return ok(undefined);
  }

  /**
   * An empty list restores the samples that the file names suggest; without details, those of each file stay.
   */
  async setSamples(names: readonly string[], details?: readonly SampleDetails[]): Promise<Result<void>> {
    const files = this.stored.inputs.length;
    const wrong = [names.length === 0 ? files : names.length, details?.length ?? files].find(
      (count) => count !== files,
    );
    if (wrong !== undefined) return failWith('usage', `The run has ${files} files, not ${wrong}.`);
    await this.store.setSamples(names, details);
    this.describeWith({
      samples: names.length === 0 ? null : [...names],
      ...(details && { sampleDetails: [...details] }),
    });
    return ok(undefined);
  }

  /** See `OpenRun.settleInput`. An input that is added belongs to the sample of the file that it replaces. */
  async settleInput(file: string, added: PlanInput | null): Promise<void> {
    const { inputs, description } = this.stored;
    const { samples, sampleDetails, request } = description.options;
    const paths = inputs.map(({ path }) => path);
    const before = paths.indexOf(file);
    const name = samples?.[before] ?? request?.samples?.[file];
    const details = sampleDetails?.[before] ?? request?.sampleDetails?.[file] ?? NO_DETAILS;
    await this.store.settleInput(file, added, {
      ...(added && samples && { samples: [...samples, name ?? sampleNames([added.path]).join('')] }),
      ...(added && sampleDetails && { sampleDetails: [...sampleDetails, details] }),
    });
    await this.reload();
  }

  private describeWith(options: RunOptions): void {
    const { description } = this.stored;
    this.now = {
      ...this.stored,
      description: { ...description, options: { ...description.options, ...options } },
    };
    for (const listener of this.listeners) listener({ type: 'state', state: this.stored.state });
  }

  /** Earlier findings about a device are kept if its worker has nothing left to do. */
  async saveDevices(devices: readonly RunDevice[]): Promise<void> {
    const merged = devices.map((device) => {
      const before = this.stored.devices.find(({ id }) => id === device.id);
      return { ...device, facts: { ...before?.facts, ...device.facts } };
    });
    const others = this.stored.devices.filter(({ id }) => !merged.some((device) => device.id === id));
    this.now = { ...this.stored, devices: [...others, ...merged] };
    await this.store.saveDevices(merged);
  }
}

/** The request of a run. Throws AppFailure if it has none, such as one that another program made. */
export function storedRequest({ description }: Pick<StoredRun, 'description'>, folder: string): RunRequest {
  const { request } = description.options;
  if (request) return request;
  throw appFailure('run_damaged', message('run.no_request', { folder }));
}

export type LifecycleEvent =
  | { type: 'start' }
  | { type: 'pause' }
  | { type: 'drain' }
  /** The run has reached its goal: like `drain`, but it records why it stopped. */
  | { type: 'enough'; goal: Goal }
  | { type: 'workers_idle' }
  | { type: 'halt'; error: AppError }
  | { type: 'parts_settled' }
  | {
      type: 'tables_written';
      failedParts: number;
      failedRecords: number;
      failedInputs: number;
      damage: Damage;
    }
  | { type: 'cancel' }
  | { type: 'reopen' };

type Transition = { ok: true; state: RunState } | { ok: false; error: AppError };

const to = (state: RunState): Transition => ({ ok: true, state });

function impossible(state: RunState, event: LifecycleEvent): Transition {
  return {
    ok: false,
    error: appError('usage', `A run that is ${describePhase(state)} cannot take "${event.type}".`),
  };
}

/**
 * The whole life of a run. Whatever is not listed is refused, never ignored.
 *
 * created -> running -> finishing -> done
 *               |  ^        |
 *   pausing/draining |      +-> paused (tables could not be written)
 *               v    |
 *             paused-+      cancelled ends it; `start` takes every run up again, and `reopen` only puts one to rest
 *                           that was interrupted. Whether a run is at work already, only its opener knows.
 */
export function transition(state: RunState, event: LifecycleEvent): Transition {
  switch (event.type) {
    case 'start':
      return to({ phase: 'running' });
    case 'pause':
      return state.phase === 'running' || state.phase === 'draining'
        ? to({ phase: 'pausing' })
        : impossible(state, event);
    case 'drain':
      return state.phase === 'running' ? to({ phase: 'draining' }) : impossible(state, event);
    case 'enough':
      return state.phase === 'running'
        ? to({ phase: 'draining', enough: event.goal })
        : impossible(state, event);
    case 'workers_idle':
      if (state.phase === 'draining' && state.enough)
        return to({ phase: 'paused', error: null, enough: state.enough });
      return state.phase === 'pausing' || state.phase === 'draining'
        ? to({ phase: 'paused', error: null })
        : impossible(state, event);
    case 'halt':
      return isActive(state) ? to({ phase: 'paused', error: event.error }) : impossible(state, event);
    case 'parts_settled':
      return state.phase === 'running' || state.phase === 'draining' || state.phase === 'pausing'
        ? to({ phase: 'finishing' })
        : impossible(state, event);
    case 'tables_written':
      return state.phase === 'finishing'
        ? to({
            phase: 'done',
            failedParts: event.failedParts,
            failedRecords: event.failedRecords,
            ...(event.failedInputs > 0 ? { failedInputs: event.failedInputs } : {}),
            ...(event.damage.records + event.damage.lines > 0 ? { damage: event.damage } : {}),
          })
        : impossible(state, event);
    case 'cancel':
      return state.phase === 'done' || state.phase === 'cancelled'
        ? impossible(state, event)
        : to({ phase: 'cancelled' });
    case 'reopen':
      return to({ phase: 'paused', error: null });
  }
}

export function describePhase(state: RunState): string {
  if (state.phase === 'paused' && state.enough)
    return `paused: its goal ${goalText(state.enough)} is reached, and the rest is not computed`;
  const words: Record<RunState['phase'], string> = {
    created: 'not started',
    running: 'running',
    pausing: 'being paused',
    draining: 'finishing the parts in work',
    paused: 'paused',
    finishing: 'writing its results',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
  };
  return words[state.phase];
}
