import { asAppError, causeOf, err, ok, type Result } from '../../contract/errors.ts';
import type { Goal } from '../../contract/goal.ts';
import { message } from '../../contract/messages.ts';
import type { Annotation, RunRequest } from '../../contract/rpc/runs.ts';
import type { RunState } from '../../contract/runState.ts';
import type { SampleDetails } from '../../contract/samples.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import {
  GOAL_OPTION,
  SAMPLE_DETAILS_OPTION,
  SAMPLES_OPTION,
  type RunDevice,
  type StoredRun,
} from '../store/types.ts';
import { RunNotes, type RunNote } from './runNotes.ts';
import { describePhase, transition, type LifecycleEvent } from './runTransitions.ts';
import { storedRequest } from './storedRequest.ts';

export type RunListener = (
  change: { type: 'state'; state: RunState } | { type: 'note'; note: RunNote },
) => void;

/** A run as stored in its database, with its notes and the listeners for changes of either. */
export class RunRecord {
  readonly notes: RunNotes;
  readonly store: RunStore;
  private readonly listeners = new Set<RunListener>();
  private now: StoredRun;
  private advancing: Promise<unknown> = Promise.resolve();

  constructor(store: RunStore, stored: StoredRun) {
    this.store = store;
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
    try {
      await this.store.setState(next.state);
    } catch (reason) {
      // A full disk must not hide that the run has stopped; a reopened run detects it by itself.
      this.notes.add(
        'error',
        'state_not_stored',
        message('note.state_not_stored', { cause: causeOf(asAppError(reason)) }),
      );
    }
    this.now = { ...this.stored, state: next.state };
    for (const listener of this.listeners) listener({ type: 'state', state: next.state });
    return ok(undefined);
  }

  /** Rereads what prepare has stored meanwhile. */
  async reload(): Promise<void> {
    const read = await this.store.loadRun();
    this.now = { ...read, state: this.stored.state };
  }

  async rename(name: string): Promise<void> {
    await this.store.rename(name);
    this.now = { ...this.stored, description: { ...this.stored.description, name } };
  }

  protected async saveGoal(goal: Goal | null): Promise<void> {
    await this.store.setGoal(goal);
    const { description } = this.stored;
    this.now = {
      ...this.stored,
      description: { ...description, options: { ...description.options, [GOAL_OPTION]: goal } },
    };
    for (const listener of this.listeners) listener({ type: 'state', state: this.stored.state });
  }

  async annotate(annotation: Annotation): Promise<void> {
    await this.store.annotate(annotation);
    const { description } = this.stored;
    const options = { ...description.options, annotation };
    this.now = { ...this.stored, description: { ...description, options } };
    for (const listener of this.listeners) listener({ type: 'state', state: this.stored.state });
  }

  /**
   * An empty list restores the samples that the file names suggest; without details, those of each file stay.
   */
  async setSamples(names: readonly string[], details?: readonly SampleDetails[]): Promise<void> {
    await this.store.setSamples(names, details);
    const { description } = this.stored;
    const options = {
      ...description.options,
      [SAMPLES_OPTION]: names.length === 0 ? null : [...names],
      ...(details && { [SAMPLE_DETAILS_OPTION]: [...details] }),
    };
    this.now = { ...this.stored, description: { ...description, options } };
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
