import { expect, it } from 'vitest';
import { appError, AppFailure } from '../../../contract/errors.ts';
import type { ComputerLink } from '../../../contract/rpc/computers.ts';
import type { AskPerson } from './askpass.ts';
import type { ComputerConnection } from './tunnel.ts';
import { KeptComputer } from './keptComputer.ts';

const LOST = new AppFailure(appError('ssh_lost', 'It broke.'));
const UNFIT = new AppFailure(appError('computer_unfit', 'Too old.'));
const DENIED = new AppFailure(appError('ssh_denied', 'No.'));

/** A computer whose connections the test opens, breaks and refuses. */
function madeUp() {
  const seen: ComputerLink[] = [];
  const attempts: {
    ask: AskPerson | null;
    succeed: () => (reason?: AppFailure) => void;
    fail: (reason: unknown) => void;
  }[] = [];
  let arrived: () => void = () => undefined;
  const computer: KeptComputer = new KeptComputer({
    changed: () => seen.push(computer.link),
    pause: () => Promise.resolve(),
    connect: (ask) =>
      new Promise<ComputerConnection>((resolve, reject) => {
        const succeed = () => {
          const { promise: ended, resolve: end } = Promise.withResolvers<AppFailure>();
          const close = async () => {
            end(LOST);
            await ended;
          };
          const ssh = { ended: () => ended, close };
          resolve({ tunnel: { server: { version: '1', hostName: 'gpu' } }, ssh } as ComputerConnection);
          return (reason = LOST) => end(reason);
        };
        attempts.push({ ask, succeed, fail: reject });
        arrived();
      }),
  });
  /** Resolves with the n-th attempt to connect, once it is made. */
  const attempt = async (index: number) => {
    for (;;) {
      const made = attempts[index];
      if (made) return made;
      await new Promise<void>((resolve) => (arrived = resolve));
    }
  };
  const states = () =>
    seen.map((link) => (link.state === 'away' ? `away, again: ${link.again}` : link.state));
  return { computer, attempt, attempts, states };
}

it('reconnects by itself after the connection broke, without asking anybody', async () => {
  const { computer, attempt, states } = madeUp();
  computer.connect();
  const first = await attempt(0);
  expect(first.ask).not.toBeNull();
  const breakIt = first.succeed();
  await expect.poll(() => computer.awaited).toBeDefined();
  breakIt();
  const second = await attempt(1);
  expect(second.ask).toBeNull();
  second.fail(new AppFailure(appError('ssh_unreachable', 'No route.')));
  const third = await attempt(2);
  // Whoever waits continues as soon as the connection is back.
  expect(computer.awaited).toBeUndefined();
  third.succeed();
  await expect.poll(() => computer.awaited?.tunnel.server.hostName).toBe('gpu');
  const away = 'away, again: true';
  expect(states()).toEqual(['connecting', 'connected', away, away, 'connected']);
  await computer.disconnect();
  expect(computer.link).toEqual({ state: 'idle' });
});

it('stays disconnected if another attempt would not help, until somebody connects again', async () => {
  const { computer, attempt, attempts } = madeUp();
  computer.connect();
  (await attempt(0)).fail(UNFIT);
  await expect.poll(() => computer.link).toMatchObject({ state: 'away', again: false });
  expect(() => computer.awaited).toThrow('Too old.');
  expect(attempts).toHaveLength(1);
  computer.connect();
  (await attempt(1)).succeed();
  await expect.poll(() => computer.awaited).toBeDefined();
  await computer.disconnect();
});

it('reports that a password is needed again, asks for it only when somebody connects, and then lets what waits continue', async () => {
  const { computer, attempt } = madeUp();
  computer.connect();
  const breakIt = (await attempt(0)).succeed();
  await expect.poll(() => computer.awaited).toBeDefined();
  breakIt();
  (await attempt(1)).fail(DENIED);
  await expect.poll(() => computer.link).toMatchObject({ state: 'away', again: false });
  expect(computer.awaited).toBeUndefined();
  computer.connect();
  expect((await attempt(2)).ask).not.toBeNull();
  (await attempt(2)).succeed();
  await expect.poll(() => computer.awaited?.tunnel.server.hostName).toBe('gpu');
  await computer.disconnect();
});

it('shows one question, accepts one answer, and forgets the question when it is over', async () => {
  const { computer, attempt } = madeUp();
  computer.connect();
  const { ask, succeed } = await attempt(0);
  const question = { kind: 'secret', prompt: 'Password:', again: false } as const;
  const answer = ask?.(question, new AbortController().signal);
  expect(computer.link).toMatchObject({ state: 'connecting', question });
  computer.answer('open sesame');
  expect(await answer).toBe('open sesame');
  expect(computer.link).toMatchObject({ question: null });
  const over = new AbortController();
  const unanswered = ask?.(question, over.signal);
  over.abort();
  expect(await unanswered).toBeNull();
  succeed();
  await expect.poll(() => computer.awaited).toBeDefined();
  expect(JSON.stringify(computer.link)).not.toContain('sesame');
  await computer.disconnect();
});
