import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { appError, AppFailure, asAppError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { ComputerLink, SshQuestion } from '../../contract/rpc/computers.ts';
import type { AskPerson } from './askpass.ts';
import type { Asked, TellStep } from './remoteServer.ts';
import type { ComputerConnection } from './tunnel.ts';
import { mayPass, needsPerson } from './sshFailure.ts';

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;

interface KeptComputerOptions {
  connect: (...asked: Asked) => Promise<ComputerConnection>;
  /** Called when the link has changed. */
  changed: () => void;
  /** Waits before the next attempt. */
  pause?: (milliseconds: number, value: undefined, until: { signal: AbortSignal }) => Promise<unknown>;
}

/** One other computer: connected on request, and then kept connected until it is disconnected. */
export class KeptComputer {
  private readonly options: KeptComputerOptions;
  private state: ComputerLink = { state: 'idle' };
  private held: ComputerConnection | undefined;
  private wanted: AbortController | undefined;
  private working: Promise<void> = Promise.resolve();
  private answering: ((answer: string | null) => void) | undefined;
  private readonly changes = new EventEmitter().setMaxListeners(0);

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

  /** A user requests the connection, so the user may be asked questions. */
  connect(): void {
    if (this.state.state === 'connected' || this.state.state === 'connecting') return;
    this.wanted?.abort();
    const wanted = new AbortController();
    this.wanted = wanted;
    this.set({ state: 'connecting', step: 'signing_in', fraction: null, question: null });
    this.working = this.working.then(() => this.keep(wanted.signal));
  }

  async disconnect(): Promise<void> {
    this.wanted?.abort();
    this.wanted = undefined;
    this.answer(null);
    await this.held?.ssh.close();
    await this.working;
    this.set({ state: 'idle' });
  }

  /** Null rejects the question. */
  answer(answer: string | null): void {
    this.answering?.(answer);
  }

  /**
   * Resolves when the computer is connected; rejects if the connection is not requested any more or not
   * possible.
   */
  readonly connected = async (signal?: AbortSignal): Promise<ComputerConnection> => {
    for (;;) {
      signal?.throwIfAborted();
      const { connection, state } = this;
      if (connection) return connection;
      // If a user has to sign in again, waiting calls continue after that.
      if (state.state === 'idle' || (state.state === 'away' && !state.again && !needsPerson(state.error))) {
        throw new AppFailure(
          state.state === 'away'
            ? state.error
            : appError('ssh_lost', message('transfer.not_connected'), { nextStep: 'Connect again.' }),
        );
      }
      await once(this.changes, 'changed', { signal });
    }
  };

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
    for (let attempt = 0; isWanted(); attempt++) {
      let error: AppError;
      try {
        const { ssh, tunnel } = (this.held = await connect(asks, this.tell, signal));
        if (!isWanted()) await ssh.close();
        const { version, hostName } = tunnel.server;
        attempt = 0;
        wasConnected = true;
        this.set({ state: 'connected', version, hostName });
        error = (await ssh.ended).error;
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
      await pause(delayBefore(attempt), undefined, { signal }).catch(() => undefined);
    }
  }

  private readonly tell: TellStep = (step, fraction) => {
    // Automatic retries show the reason of the failure instead of the steps.
    if (this.state.state !== 'connecting') return;
    this.set({ state: 'connecting', step, fraction, question: null });
  };

  private readonly ask: AskPerson = (question: SshQuestion, signal: AbortSignal) =>
    new Promise((resolve) => {
      const settle = (answer: string | null): void => {
        if (this.answering !== settle) return;
        this.answering = undefined;
        if (this.state.state === 'connecting') this.set({ ...this.state, question: null });
        resolve(answer);
      };
      this.answering?.(null);
      this.answering = settle;
      signal.addEventListener('abort', () => settle(null));
      if (this.state.state === 'connecting') this.set({ ...this.state, question });
    });

  private set(state: ComputerLink): void {
    this.state = state;
    this.options.changed();
    this.changes.emit('changed');
  }
}

/** The delay doubles with each attempt, up to half a minute. */
export function delayBefore(attempt: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
}
