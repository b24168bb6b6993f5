import { z } from 'zod';
import { byeSchema, countSchema, helloSchema, logSchema } from './common.ts';

/**
 * Messages to and from the process that is the driver of a Ray cluster: it has one task computed for each
 * share of a run.
 */
const shareNumberSchema = z.int().positive();

export const rayCommandSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('connect'),
    address: z.string(),
    /** The run's folder, which all nodes read and write at this path. */
    run: z.string(),
    /** The command that starts this program on a node. */
    program: z.string(),
    shares: shareNumberSchema,
    /** Processors of a task; 0 means one GPU. */
    cpus: countSchema,
    /** Tasks that run at once; 0 for as many as Ray grants. */
    workers: countSchema,
  }),
  z.object({ type: z.literal('submit'), shares: z.array(shareNumberSchema) }),
  /** Ends all tasks. */
  z.object({ type: z.literal('cancel') }),
]);
export type RayCommand = z.infer<typeof rayCommandSchema>;

export const rayEventSchema = z.discriminatedUnion('type', [
  helloSchema,
  z.object({ type: z.literal('connected'), version: z.string(), job: z.string() }),
  /** The cluster cannot be used; the process ends. */
  z.object({ type: z.literal('refused'), message: z.string(), next_step: z.string() }),
  z.object({ type: z.literal('share_waits'), share: shareNumberSchema, reason: z.string() }),
  z.object({
    type: z.literal('share_ended'),
    share: shareNumberSchema,
    node: z.string().nullable(),
    reason: z.string(),
    /** The last lines that the task wrote. */
    last_words: z.string(),
  }),
  logSchema,
  byeSchema,
]);
export type RayEvent = z.infer<typeof rayEventSchema>;
