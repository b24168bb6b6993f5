import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { appErrorSchema } from '../errors.ts';
import { pathSchema, wordSchema } from '../limits.ts';
import { countSchema } from '../protocol/index.ts';
import { procedure } from './procedure.ts';

/** As one writes it after `ssh`: a name of ~/.ssh/config, user@host, or either with a port. Never an option, nor anything for a shell. */
export const sshAddressSchema = wordSchema.regex(
  /^(ssh:\/\/)?[\p{L}\p{N}_][\p{L}\p{N}._@:[\]-]*$/u,
  'Write the computer as after "ssh", such as anna@gpu.example.org.',
);

export const computerNameSchema = wordSchema.trim().min(1, 'Give the computer a name.').max(60);

/** What OpenSSH wants to know of the person in front of the screen. */
const sshQuestionSchema = z.discriminatedUnion('kind', [
  /** The computer is met for the first time: whether this is its key. */
  z.object({ kind: z.literal('host_key'), host: z.string(), keyType: z.string(), fingerprint: z.string() }),
  /** A password, a passphrase or a one-time code, in OpenSSH's own words. `again`: the answer before was not accepted. */
  z.object({ kind: z.literal('secret'), prompt: z.string(), again: z.boolean() }),
]);
export type SshQuestion = z.infer<typeof sshQuestionSchema>;

const connectStepSchema = z.enum(['signing_in', 'looking', 'sending', 'installing', 'starting']);
export type ConnectStep = z.infer<typeof connectStepSchema>;

const computerLinkSchema = z.discriminatedUnion('state', [
  /** Nobody has asked for it. */
  z.object({ state: z.literal('idle') }),
  z.object({
    state: z.literal('connecting'),
    step: connectStepSchema,
    /** Of the step; null where it is not known. */
    fraction: z.number().min(0).max(1).nullable(),
    question: sshQuestionSchema.nullable(),
  }),
  z.object({ state: z.literal('connected'), version: z.string(), hostName: z.string() }),
  /** Not to be reached, or not to be used. `again`: it is tried again by itself. */
  z.object({ state: z.literal('away'), error: appErrorSchema, again: z.boolean() }),
]);
export type ComputerLink = z.infer<typeof computerLinkSchema>;

const otherComputerSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  address: z.string(),
  link: computerLinkSchema,
});
export type OtherComputer = z.infer<typeof otherComputerSchema>;

/** Of a file under way between two computers. `path` is where it has arrived; null until then. */
const transferSchema = z.object({
  doneBytes: countSchema,
  totalBytes: countSchema,
  /** The connection is gone; it goes on by itself. */
  waiting: z.boolean(),
  path: z.string().nullable(),
});
export type Transfer = z.infer<typeof transferSchema>;

const byId = z.object({ id: z.uuid() });

/** Computers that the desktop app reaches by SSH. In browser mode each call answers with a plain refusal. */
export const computersContract = {
  /** Sent whole when anything changes. */
  list: procedure.output(eventIterator(z.array(otherComputerSchema))),
  add: procedure.input(z.object({ name: computerNameSchema, address: sshAddressSchema })).output(byId),
  rename: procedure.input(byId.extend({ name: computerNameSchema })),
  /** Forgets it. What is on that computer stays there; `uninstalls` deletes the program, and nothing else. */
  remove: procedure.input(byId.extend({ uninstalls: z.boolean() })),
  /** Connects, and keeps connected; `list` tells how far it is. */
  connect: procedure.input(byId),
  /** What is at work there goes on. */
  disconnect: procedure.input(byId),
  /** Of the question that `list` shows; null for no. */
  answer: procedure.input(byId.extend({ answer: z.string().max(10_000).nullable() })),
  /** Sends a file that the user has given to this window; goes on where the connection broke. */
  sendFile: procedure.input(byId.extend({ path: pathSchema.min(1) })).output(eventIterator(transferSchema)),
  /** Fetches what that computer offers under an address; whole at `path`, or not there. */
  fetchFile: procedure
    .input(byId.extend({ address: pathSchema.regex(/^\/download\/[\w-]+\/[^/]+$/), path: pathSchema.min(1) }))
    .output(eventIterator(transferSchema)),
};
