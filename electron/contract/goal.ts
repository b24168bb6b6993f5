import { z } from 'zod';

/** When a run may stop before everything is computed. */
export const goalSchema = z.discriminatedUnion('kind', [
  /** Stops when the interval of every sample's viral share has at most this half width, as a share of 1. */
  z.object({ kind: z.literal('half_width'), share: z.number().positive().max(0.5) }),
  /**
   * Stops after this much computing time; `from` is how long the run had been computing when the goal was
   * set.
   */
  z.object({
    kind: z.literal('time'),
    seconds: z.number().positive(),
    from: z.number().nonnegative().default(0),
  }),
]);
export type Goal = z.infer<typeof goalSchema>;

const SECONDS = { s: 1, min: 60, h: 3600, d: 86_400 } as const;
const TIME = /^(?<count>\d+(\.\d+)?)\s*(?<unit>s|min|h|d)$/;
const SHARE = /^(?<percent>\d+(\.\d+)?)\s*%$/;

/** Parses what is typed after `--until`: 0.5%, 30min. Null if the text is no goal. */
export function parseGoal(text: string): Goal | null {
  const { count, unit } = TIME.exec(text)?.groups ?? {};
  const { percent } = SHARE.exec(text)?.groups ?? {};
  const goal =
    count !== undefined
      ? { kind: 'time', seconds: Number(count) * SECONDS[unit as keyof typeof SECONDS] }
      : { kind: 'half_width', share: Number(percent) / 100 };
  return goalSchema.safeParse(goal).data ?? null;
}

/** Writes a goal in the form that `parseGoal` reads. */
export function goalText(goal: Goal): string {
  if (goal.kind === 'half_width') return `${Number((100 * goal.share).toPrecision(6))}%`;
  const [unit, seconds] =
    Object.entries(SECONDS).findLast(([, one]) => goal.seconds % one === 0) ?? (['s', 1] as const);
  return `${goal.seconds / seconds}${unit}`;
}
