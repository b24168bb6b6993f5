/**
 * OpenSSH asks a question by starting the program named by SSH_ASKPASS and reading the answer from its
 * standard output. Our program writes the question into a folder that nobody else may read, and waits at a
 * named pipe: an answer is never stored on the disk.
 */
import { constants, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SshQuestion } from '../../contract/rpc/computers.ts';

const SCRIPT = `#!/bin/sh
umask 077
place=$(mktemp -d "$VIRNUCPRO_QUESTIONS/ask-XXXXXX") || exit 1
mkfifo "$place/answer" || exit 1
printf '%s' "$1" > "$place/prompt.part" && mv "$place/prompt.part" "$place/prompt" || exit 1
answer=$(cat "$place/answer")
rm -rf "$place"
case $answer in
  yes:*) printf '%s\\n' "\${answer#yes:}" ;;
  *) exit 1 ;;
esac
`;
const LOOK_EVERY_MS = 200;

export type AskPerson = (question: SshQuestion, signal: AbortSignal) => Promise<string | null>;

interface Askpass {
  /** Variables to add to the environment of ssh. */
  readonly env: Readonly<Record<string, string>>;
  /** Rejects the questions that are open; resolves when ssh's programs for them have been told. */
  readonly close: () => Promise<void>;
}

/** Starts to answer the questions that ssh asks in this folder, which must be the user's own. */
export async function answerQuestions(parent: string, ask: AskPerson): Promise<Askpass> {
  const folder = join(parent, 'questions');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const script = join(parent, 'askpass');
  await writeFile(script, SCRIPT, { mode: 0o700 });
  const closed = new AbortController();
  const seen = new Map<string, Promise<void>>();
  const asked = new Set<string>();
  const look = async (): Promise<void> => {
    for (const name of await readdir(folder).catch(() => [])) {
      const prompt = await readFile(join(folder, name, 'prompt'), 'utf8').catch(() => undefined);
      if (prompt === undefined || seen.has(name) || closed.signal.aborted) continue;
      seen.set(
        name,
        answerOne(join(folder, name), questionOf(prompt, asked.has(prompt)), ask, closed.signal),
      );
      asked.add(prompt);
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return {
    env: {
      SSH_ASKPASS: script,
      SSH_ASKPASS_REQUIRE: 'force',
      VIRNUCPRO_QUESTIONS: folder,
      // Older versions only use SSH_ASKPASS if there is a display.
      DISPLAY: process.env['DISPLAY'] || ':0',
    },
    close: async () => {
      closed.abort();
      clearInterval(timer);
      await Promise.all(seen.values());
    },
  };
}

async function answerOne(
  place: string,
  question: SshQuestion,
  ask: AskPerson,
  closed: AbortSignal,
): Promise<void> {
  const given = await ask(question, closed).catch(() => null);
  const answer = given !== null && question.kind === 'host_key' ? question.fingerprint : given;
  const pipe = join(place, 'answer');
  // Does not wait for a reader: if there is none any more, nobody needs the answer.
  const flag = constants.O_WRONLY | constants.O_NONBLOCK;
  const written = answer === null ? 'no' : `yes:${answer.replaceAll('\n', '')}`;
  await writeFile(pipe, written, { flag }).catch(() => undefined);
}

/** Parses OpenSSH's prompt. `again`: it has asked the same before, and rejected the answer. */
export function questionOf(prompt: string, again = false): SshQuestion {
  const host = /authenticity of (?:host )?'([^']+)'/.exec(prompt)?.[1];
  const [, keyType, fingerprint] = /(\S+) key fingerprint is (\S+?)\.?(?:\s|$)/.exec(prompt) ?? [];
  if (host !== undefined && keyType !== undefined && fingerprint !== undefined) {
    return { kind: 'host_key', host, keyType, fingerprint };
  }
  return { kind: 'secret', prompt: prompt.trim(), again };
}
