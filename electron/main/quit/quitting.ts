import { app, type BrowserWindow } from 'electron';
import type { RunLive } from '../../contract/rpc/runs.ts';
import { endByForce, type Service } from '../../engine/index.ts';
import { askUser, type Question } from '../askUser.ts';
import type { ShellTexts } from '../shellTexts.ts';
import { closeQuestion, downloadQuestion } from './closeQuestion.ts';
import { mayOpenWindow, quitStep, type QuitAnswer, type QuitEvent, type QuitState } from './quitMachine.ts';

/** The longest that a user who has decided to quit has to wait. */
const CLEANUP_DEADLINE_MS = 10_000;
const SYSTEM_DEADLINE_MS = 4_000;
/** The share of it for closing the engine; the rest is for Electron itself. */
const CLOSE_SHARE = 0.8;

/** Carries out the steps of quitMachine.ts with real dialogs and a real engine. */
export class Quitting {
  private readonly service: Service;
  private readonly window: () => BrowserWindow | undefined;
  private readonly texts: () => ShellTexts;
  private state: QuitState = 'open';
  private deadlineMs = CLEANUP_DEADLINE_MS;
  private atEnd: (() => void) | undefined;

  constructor(service: Service, window: () => BrowserWindow | undefined, texts: () => ShellTexts) {
    this.service = service;
    this.window = window;
    this.texts = texts;
    service.onRest(() => {
      this.take({ type: 'at_rest' });
    });
  }

  /**
   * Quits, after the usual questions about running work; `lastStep`, such as restarting the program, must end
   * it.
   */
  quitWith(lastStep: () => void): void {
    this.atEnd = lastStep;
    app.quit();
  }

  get mayOpenWindow(): boolean {
    return mayOpenWindow(this.state);
  }

  /** Whether Electron may continue to quit or close the window; otherwise the quitting steps begin here. */
  mayGo(): boolean {
    this.take({ type: 'quit_wanted', atWork: this.isAtWork });
    return this.state === 'gone';
  }

  private get isAtWork(): boolean {
    const { control, pythonEnvironment, downloads, packing } = this.service;
    return (
      control.queue.active !== null ||
      pythonEnvironment.isRepairing ||
      downloads.areUnderWay ||
      packing.isUnderWay
    );
  }

  systemEnds(): void {
    this.deadlineMs = SYSTEM_DEADLINE_MS;
    this.take({ type: 'system_ends' });
  }

  private take(event: QuitEvent): void {
    const { state, effect } = quitStep(this.state, event);
    this.state = state;
    // The user has changed their mind.
    if (state === 'open') this.atEnd = undefined;
    switch (effect) {
      case 'nothing':
      case 'let_go':
        break;
      case 'ask':
        void this.ask();
        break;
      case 'hide_window':
        this.window()?.hide();
        break;
      case 'drain':
        this.drain();
        break;
      case 'clean':
        void this.clean();
        break;
    }
  }

  private async ask(): Promise<void> {
    this.take({ type: 'answered', answer: await this.answer().catch(() => 'cancel' as const) });
  }

  private async answer(): Promise<QuitAnswer> {
    const question = await this.question();
    return question ? askUser(question, this.window()) : 'now';
  }

  /** Undefined if nothing is running any more. */
  private async question(): Promise<Question<QuitAnswer> | undefined> {
    const live = await this.activeRun();
    if (live) return closeQuestion(live, this.texts());
    return this.isAtWork ? downloadQuestion(this.texts()) : undefined;
  }

  private async activeRun(): Promise<RunLive | undefined> {
    const runId = this.service.control.queue.active;
    if (runId === null) return undefined;
    for await (const live of this.service.watch.watch(runId)) return live;
    return undefined;
  }

  private drain(): void {
    const runId = this.service.control.queue.active;
    if (runId === null) {
      this.take({ type: 'at_rest' });
      return;
    }
    try {
      this.service.control.drain(runId);
    } catch {
      // It is already pausing or writing its tables, and will finish by itself.
    }
  }

  private async clean(): Promise<void> {
    this.window()?.hide();
    // Electron also waits for every thread when it ends.
    setTimeout(endByForce, this.deadlineMs);
    const ended = await this.service.close(this.deadlineMs * CLOSE_SHARE).catch(() => false);
    if (!ended) endByForce();
    this.take({ type: 'cleaned' });
    if (this.atEnd === undefined) app.quit();
    else this.atEnd();
  }
}
