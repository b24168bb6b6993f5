/**
 * OpenSSH asks a question by starting the program named by SSH_ASKPASS and reading the answer from its
 * standard output. Ours passes both through named pipes in a folder that nobody else may read: an answer is
 * never stored on the disk.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { SshQuestion } from '../../../contract/rpc/computers.ts';

const SCRIPT = `#!/bin/sh
cd "$VIRNUCPRO_QUESTIONS" && printf '%s' "$1" > prompt && answer=$(cat answer) && [ "$answer" ] &&
  printf '%s\\n' "$answer"
`;

export type AskPerson = (question: SshQuestion, signal: AbortSignal) => Promise<string | null>;

/**
 * Answers the questions that ssh asks, one after the other, until `closed`, in this folder of the user's own.
 * Returns what to add to the environment of ssh.
 */
export async function answerQuestions(
  folder: string,
  ask: AskPerson,
  closed: AbortSignal,
): Promise<Record<string, string>> {
  const script = join(folder, 'askpass');
  await writeFile(script, SCRIPT, { mode: 0o700 });
  await execa('mkfifo', ['-m', '600', 'prompt', 'answer'], { cwd: folder });
  void answerAll(folder, ask, closed);
  return {
    SSH_ASKPASS: script,
    SSH_ASKPASS_REQUIRE: 'force',
    VIRNUCPRO_QUESTIONS: folder,
    // Older versions only use SSH_ASKPASS if there is a display.
    DISPLAY: process.env['DISPLAY'] || ':0',
  };
}

async function answerAll(folder: string, ask: AskPerson, closed: AbortSignal): Promise<void> {
  const asked = new Set<string>();
  const own = { cwd: folder, reject: false, cancelSignal: closed } as const;
  for (;;) {
    const { failed, stdout: prompt } = await execa('cat', ['prompt'], own);
    if (failed) return;
    const question = questionOf(prompt, asked.has(prompt));
    asked.add(prompt);
    const given = await ask(question, closed);
    const answer = given !== null && question.kind === 'host_key' ? question.fingerprint : given;
    await execa('sh', ['-c', 'cat > answer'], { ...own, input: (answer ?? '').replaceAll('\n', '') });
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
