import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { appErrorSchema } from '../errors.ts';
import { pathSchema, wordSchema } from '../limits.ts';
import { countSchema } from '../protocol/index.ts';
import { procedure } from './procedure.ts';

/**
 * An address as typed after `ssh`: a name of ~/.ssh/config, user@host, or either with a port. It is never an
 * option or shell syntax.
 */
export const sshAddressSchema = wordSchema.regex(/^(ssh:\/\/)?[\p{L}\p{N}_][\p{L}\p{N}._@:[\]-]*$/u);

/** A question that OpenSSH asks the user. */
const sshQuestionSchema = z.discriminatedUnion('kind', [
  /** The computer's key is not known yet: asks whether this is its key. */
  z.object({ kind: z.literal('host_key'), host: z.string(), keyType: z.string(), fingerprint: z.string() }),
  /**
   * A password, a passphrase or a one-time code, with OpenSSH's prompt. `again`: the previous answer was not
   * accepted.
   */
  z.object({ kind: z.literal('secret'), prompt: z.string(), again: z.boolean() }),
]);
export type SshQuestion = z.infer<typeof sshQuestionSchema>;

const connectStepSchema = z.enum(['signing_in', 'looking', 'sending', 'installing', 'starting']);
export type ConnectStep = z.infer<typeof connectStepSchema>;

const computerLinkSchema = z.discriminatedUnion('state', [
  /** No connection was requested. */
  z.object({ state: z.literal('idle') }),
  z.object({
    state: z.literal('connecting'),
    step: connectStepSchema,
    /** Share of the step that is done; null if unknown. */
    fraction: z.number().min(0).max(1).nullable(),
    question: sshQuestionSchema.nullable(),
  }),
  z.object({ state: z.literal('connected'), version: z.string(), hostName: z.string() }),
  /** The computer can't be reached, or can't be used. `again`: the program retries by itself. */
  z.object({ state: z.literal('away'), error: appErrorSchema, again: z.boolean() }),
]);
export type ComputerLink = z.infer<typeof computerLinkSchema>;

const otherComputerSchema = z.object({ address: sshAddressSchema, link: computerLinkSchema });
export type OtherComputer = z.infer<typeof otherComputerSchema>;

/** A file transfer between two computers. `path` is where the file has arrived; null until then. */
const transferSchema = z.object({
  doneBytes: countSchema,
  totalBytes: countSchema,
  path: z.string().nullable(),
});
export type Transfer = z.infer<typeof transferSchema>;

const byAddress = z.object({ address: sshAddressSchema });

/** Computers that the desktop app reaches through SSH, by address. In browser mode every call is refused. */
export const computersContract = {
  /** Sent in full whenever anything changes. */
  list: procedure.output(eventIterator(z.array(otherComputerSchema))),
  add: procedure.input(byAddress),
  /** Removes it from the list. The program and its files stay on that computer. */
  remove: procedure.input(byAddress),
  /** Connects, and stays connected; `list` reports the progress. */
  connect: procedure.input(byAddress),
  /** Runs on that computer continue. */
  disconnect: procedure.input(byAddress),
  /** The answer to the question that `list` shows; null to decline. */
  answer: procedure.input(byAddress.extend({ answer: z.string().max(10_000).nullable() })),
  /**
   * Sends a file that the user gave to this window, or fetches what that computer offers at an address of its
   * own, which arrives at `path` completely or not at all. Resumes if the connection breaks.
   */
  transfer: procedure
    .input(
      byAddress.extend({
        path: pathSchema.min(1),
        offer: pathSchema.regex(/^\/download\/[\w-]+\/[^/]+$/).optional(),
      }),
    )
    .output(eventIterator(transferSchema)),
};
