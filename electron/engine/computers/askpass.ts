/**
 * OpenSSH asks a question by starting the program named by SSH_ASKPASS and reading the answer from its
 * standard output. Ours passes both through named pipes in a folder that nobody else may read: an answer is
 * never stored on the disk.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { SshQuestion } from '../../contract/rpc/computers.ts';

const SCRIPT = `#!/bin/sh
cd "$VIRNUCPRO_QUESTIONS" && printf '%s' "$1" > prompt || exit 1
answer=$(cat answer)
case $answer in
  yes:*) printf '%s\\n' "\${answer#yes:}" ;;
  *) exit 1 ;;
esac
`;
/** The script reads its answer at once, unless ssh has been ended meanwhile. */
const READS_WITHIN_MS = 5_000;

export type AskPerson = (question: SshQuestion, signal: AbortSignal) => Promise<string | null>;

interface Askpass {
  /** Variables to add to the environment of ssh. */
  readonly env: Readonly<Record<string, string>>;
  /** Rejects the open question. */
  readonly close: () => Promise<void>;
}

/** Starts to answer the questions that ssh asks, one after the other, in this folder of the user's own. */
export async function answerQuestions(folder: string, ask: AskPerson): Promise<Askpass> {
  const script = join(folder, 'askpass');
  await writeFile(script, SCRIPT, { mode: 0o700 });
  await execa('mkfifo', ['-m', '600', 'prompt', 'answer'], { cwd: folder });
  const closed = new AbortController();
  const answering = answerAll(folder, ask, closed.signal);
  return {
    env: {
      SSH_ASKPASS: script,
      SSH_ASKPASS_REQUIRE: 'force',
      VIRNUCPRO_QUESTIONS: folder,
      // Older versions only use SSH_ASKPASS if there is a display.
      DISPLAY: process.env['DISPLAY'] || ':0',
    },
    close: () => {
      closed.abort();
      return answering;
    },
  };
}

async function answerAll(folder: string, ask: AskPerson, closed: AbortSignal): Promise<void> {
  const asked = new Set<string>();
  const own = { cwd: folder, reject: false } as const;
  for (;;) {
    const read = await execa('cat', ['prompt'], { ...own, cancelSignal: closed });
    if (read.failed) return;
    const question = questionOf(read.stdout, asked.has(read.stdout));
    asked.add(read.stdout);
    const given = await ask(question, closed).catch(() => null);
    const answer = given !== null && question.kind === 'host_key' ? question.fingerprint : given;
    const input = answer === null ? 'no' : `yes:${answer.replaceAll('\n', '')}`;
    await execa('sh', ['-c', 'cat > answer'], { ...own, input, timeout: READS_WITHIN_MS });
  }
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
