import { z } from 'zod';
import { byeSchema, countSchema, helloSchema, logSchema } from './common.ts';
import { workerCommandSchema, workerEventSchema } from './worker.ts';

/**
 * A pool is one process of ours that starts workers on other computers through a scheduler that already runs there. It speaks
 * for all of them: each of its lines names the device that it is from or for, and carries the worker's own line unchanged.
 */

/** A device of the cluster, of one run: the node and the GPU's UUID, or what else the scheduler calls it. */
const poolDeviceSchema = z.string().min(1).max(200);
const nameSchema = z.string().min(1).max(200);
const LONGEST_SCRIPT = 100_000;

const rayPoolSchema = z.object({
  kind: z.literal('ray'),
  /** `host:port` of the head node. The token is read from a file or the environment, as Ray itself does. */
  address: z.string().min(1).max(300),
  /** Nodes that can't read the run's folder are sent the parts, and send back the scores. */
  shared_storage: z.boolean(),
  /** CPU workers per node, where a node has no GPU. 0 for none. */
  cpu_workers_per_node: countSchema,
});

const slurmPoolSchema = z.object({
  kind: z.literal('slurm'),
  /** A batch script; the pool submits it as an array of this many tasks, with one worker each. Null where a person submits it. */
  script: z.string().max(LONGEST_SCRIPT).nullable(),
  tasks: z.int().positive(),
  /** Where sbatch, squeue and scancel are: on this computer, or on another by ssh. */
  login: z.string().min(1).max(300).nullable(),
  /** The tasks compute on processors: the plan then is one for them. */
  on_processors: z.boolean(),
});

export const poolChoiceSchema = z.discriminatedUnion('kind', [rayPoolSchema, slurmPoolSchema]);
export type PoolChoice = z.infer<typeof poolChoiceSchema>;

const openPoolSchema = z.object({
  type: z.literal('open_pool'),
  pool: poolChoiceSchema,
  run_folder: z.string(),
  /** The pool's own folder below it, for what the nodes and the pool write to each other. Plain files and folders only: a run
   * whose folder holds links or sockets is refused. */
  pool_folder: z.string(),
});

export const poolCommandSchema = z.discriminatedUnion('type', [
  openPoolSchema,
  /** Start a worker on a device that has joined. Every `worker_line` of it follows, and one `worker_exit` or a `device_left`. It is
   * sent again only after that. */
  z.object({ type: z.literal('start_worker'), device: poolDeviceSchema }),
  z.object({ type: z.literal('worker_command'), device: poolDeviceSchema, command: workerCommandSchema }),
  /** Ends it after the current batch; by force after this many seconds. */
  z.object({ type: z.literal('end_worker'), device: poolDeviceSchema, grace_seconds: z.number().positive() }),
  z.object({ type: z.literal('kill_worker'), device: poolDeviceSchema }),
  /** Ends all workers, and gives back what the scheduler has lent. */
  z.object({ type: z.literal('close_pool') }),
]);
export type PoolCommand = z.infer<typeof poolCommandSchema>;

export const poolEventSchema = z.discriminatedUnion('type', [
  helloSchema,
  z.object({
    type: z.literal('pool_ready'),
    /** Of the scheduler, such as `Ray 2.50.0`. */
    version: z.string(),
    /** What it gave the job as a name, such as SLURM's job number. */
    job: z.string().nullable(),
  }),
  /** Nothing can be computed there. The pool ends. */
  z.object({
    type: z.literal('pool_failed'),
    code: z.enum([
      'unreachable',
      'not_allowed',
      'version_differs',
      'package_missing',
      'refused_by_scheduler',
      'storage_not_shared',
      'internal_error',
    ]),
    message: z.string(),
    next_step: z.string(),
  }),
  /** How many devices are still expected to join, and why they haven't, in the scheduler's own word where it has one. While one
   * is expected, or none is there, the run waits. A pool that can bring none any more ends, with `pool_failed` or `bye`. */
  z.object({ type: z.literal('pool_waiting'), waiting: countSchema, reason: z.string() }),
  z.object({
    type: z.literal('device_joined'),
    device: poolDeviceSchema,
    node: nameSchema,
    name: nameSchema,
    kind: z.enum(['cuda', 'rocm', 'cpu']),
    memory_total_bytes: countSchema,
    /** When the scheduler takes the device back, in seconds since the epoch; null where it doesn't. */
    until: z.number().positive().nullable(),
  }),
  /** The node is gone, or the scheduler has taken the device back, and a worker there with it: what it had in work is computed
   * elsewhere and does not count as its failure. Instead of `worker_exit`, or within 3 s after it. It may join again. */
  z.object({ type: z.literal('device_left'), device: poolDeviceSchema, reason: z.string() }),
  z.object({ type: z.literal('worker_line'), device: poolDeviceSchema, event: workerEventSchema }),
  z.object({
    type: z.literal('worker_exit'),
    device: poolDeviceSchema,
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    /** Of its standard error. */
    last_lines: z.array(z.string()),
  }),
  z.object({
    type: z.literal('device_sample'),
    device: poolDeviceSchema,
    /** Seconds since the epoch. */
    time: z.number().positive(),
    utilization_percent: z.number().min(0).max(100).nullable(),
    memory_used_bytes: countSchema.nullable(),
    temperature_c: z.number().nullable(),
    power_w: z.number().nonnegative().nullable(),
  }),
  logSchema,
  byeSchema,
]);
export type PoolEvent = z.infer<typeof poolEventSchema>;
