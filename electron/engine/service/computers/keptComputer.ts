import { setTimeout as sleep } from 'node:timers/promises';
import { AppFailure, appFailure, asAppError, type AppError } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { ComputerLink } from '../../../contract/rpc/computers.ts';
import type { AskPerson } from './askpass.ts';
import type { Asked, TellStep } from './remoteServer.ts';
import { mayPass, needsPerson } from './sshClient.ts';
import type { ComputerConnection } from './tunnel.ts';

const RETRY_EVERY_MS = 5_000;

interface KeptComputerOptions {
  connect: (...asked: Asked) => Promise<ComputerConnection>;
  /** Called when the link has changed. */
  changed: () => void;
  /** Waits before the next attempt. */
  pause?: (ms: number, value: undefined, until: { signal: AbortSignal }) => Promise<unknown>;
}

/** One other computer: connected on request, and then kept connected until it is disconnected. */
export class KeptComputer {
  private readonly options: KeptComputerOptions;
  private state: ComputerLink = { state: 'idle' };
  private held: ComputerConnection | undefined;
  private wanted: AbortController | undefined;
  private working: Promise<void> = Promise.resolve();
  /** Answers the open question; null rejects it. */
  answer: (answer: string | null) => void = () => undefined;

  constructor(options: KeptComputerOptions) {
    this.options = options;
  }

  get link(): ComputerLink {
    return this.state;
  }

  /** Undefined while it is not connected. */
  get connection(): ComputerConnection | undefined {
    return this.state.state === 'connected' ? this.held : undefined;
  }

  /** Undefined while it may be connected in a moment, such as after a user signs in; throws if it will not be. */
  get awaited(): ComputerConnection | undefined {
    const { state } = this;
    if (state.state === 'idle') throw appFailure('ssh_lost', message('transfer.not_connected'));
    if (state.state !== 'away' || state.again || needsPerson(state.error)) return this.connection;
    throw new AppFailure(state.error);
  }

  /** A user requests the connection, so the user may be asked questions. */
  connect(): void {
    if (this.state.state === 'connected' || this.state.state === 'connecting') return;
    this.wanted?.abort();
    const { signal } = (this.wanted = new AbortController());
    this.set({ state: 'connecting', step: 'signing_in', fraction: null, question: null });
    this.working = this.working.then(() => this.keep(signal));
  }

  async disconnect(): Promise<void> {
    this.wanted?.abort();
    this.answer(null);
    await this.held?.ssh.close();
    await this.working;
    this.set({ state: 'idle' });
  }

  /**
   * Keeps the connection until it is not requested any more, or fails for a reason that will not go away by
   * itself.
   */
  private async keep(signal: AbortSignal): Promise<void> {
    const { connect, pause = sleep } = this.options;
    // A user is asked for a password only when they connect, never by an automatic retry.
    let asks: AskPerson | null = this.ask;
    let wasConnected = false;
    const isWanted = (): boolean => !signal.aborted;
    while (isWanted()) {
      let error: AppError;
      try {
        const { ssh, tunnel } = (this.held = await connect(asks, this.tell, signal));
        wasConnected = true;
        const { version, hostName } = tunnel.server;
        this.set({ state: 'connected', version, hostName });
        ({ error } = await ssh.ended());
        await ssh.close();
      } catch (reason) {
        error = asAppError(reason);
      }
      this.held = undefined;
      if (!isWanted()) return;
      const again = wasConnected && mayPass(error);
      asks = null;
      this.set({ state: 'away', error, again });
      if (!again) return;
      await pause(RETRY_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private readonly tell: TellStep = (step, fraction) => {
    // Automatic retries show the reason of the failure instead of the steps.
    if (this.state.state !== 'connecting') return;
    this.set({ state: 'connecting', step, fraction, question: null });
  };

  private readonly ask: AskPerson = (question, signal) =>
    new Promise((resolve) => {
      this.answer = (answer) => {
        if (this.state.state === 'connecting') this.set({ ...this.state, question: null });
        this.answer = () => undefined;
        resolve(answer);
      };
      signal.addEventListener('abort', () => this.answer(null));
      if (this.state.state === 'connecting') this.set({ ...this.state, question });
    });

  private set(state: ComputerLink): void {
    this.state = state;
    this.options.changed();
  }
}
