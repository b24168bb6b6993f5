import { z } from 'zod';
import { countSchema } from './protocol/common.ts';

/*
 * A run on a cluster is computed by shares (engine/store/shares.ts): the cluster's own scheduler starts `virnucpro compute` once for
 * each, on nodes that read and write the run's folder.
 */

const LONGEST_SCRIPT = 100_000;
export const MOST_CLUSTER_SHARES = 10_000;
/** Several shares for each GPU of a small cluster, so that a late share delays less. */
export const USUAL_RAY_SHARES = 8;

const sharesSchema = z.int().positive().max(MOST_CLUSTER_SHARES);

const raySchema = z.object({
  kind: z.literal('ray'),
  /** `host:port` of the head node. Ray itself reads its token from a file or the environment. */
  address: z.string().min(1).max(300),
  shares: sharesSchema.default(USUAL_RAY_SHARES),
  /** Processors that a share computes on; 0 means one GPU. */
  cpus: countSchema.default(0),
});

const slurmSchema = z.object({
  kind: z.literal('slurm'),
  /** A batch script, submitted as an array with one task for each share. */
  script: z.string().max(LONGEST_SCRIPT),
  shares: sharesSchema,
  /** The tasks compute on processors, so the run is planned for them. */
  on_processors: z.boolean(),
});

export const clusterChoiceSchema = z.discriminatedUnion('kind', [raySchema, slurmSchema]);
export type ClusterChoice = z.infer<typeof clusterChoiceSchema>;
export type SlurmChoice = Extract<ClusterChoice, { kind: 'slurm' }>;
export type RayChoice = Extract<ClusterChoice, { kind: 'ray' }>;

/** The kind of device that the parts of a run on a cluster are sized for. */
export function computesOn(choice: ClusterChoice): 'cpu' | 'gpu' {
  return (choice.kind === 'ray' ? choice.cpus > 0 : choice.on_processors) ? 'cpu' : 'gpu';
}

/** The id of a processor of a share. Each share counts its processors from 0, and several may be on one node. */
export const processorOfShare = (id: string, node: string, share: string): string => `${id}@${node}#${share}`;

/** The number of the share from such an id; null for other devices. */
export function shareOfDevice(id: string): number | null {
  const number = /#(\d+)-of-\d+$/.exec(id)?.[1];
  return number === undefined ? null : Number(number);
}
