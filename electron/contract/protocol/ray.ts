import { z } from 'zod';
import { byeSchema, helloSchema } from './common.ts';

/**
 * Messages to and from the process that is the driver of a Ray cluster: it has one task computed for each
 * share of a run. When its input ends, it ends all tasks.
 */
const shareNumberSchema = z.int().positive();

export const rayCommandSchema = z.object({ type: z.literal('submit'), shares: z.array(shareNumberSchema) });

export const rayEventSchema = z.discriminatedUnion('type', [
  helloSchema,
  z.object({ type: z.literal('connected'), version: z.string() }),
  /** The cluster cannot be used, for Ray's own reason; the process ends. */
  z.object({ type: z.literal('refused'), reason: z.string() }),
  z.object({
    type: z.literal('share_ended'),
    share: shareNumberSchema,
    node: z.string().nullable(),
    reason: z.string(),
  }),
  byeSchema,
]);
export type RayEvent = z.infer<typeof rayEventSchema>;
