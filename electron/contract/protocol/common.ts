import { z } from 'zod';

/** Repairs that the user can request while inputs are read; they apply to all files of a run. */
export const repairSchema = z.enum(['read_u_as_t', 'whole_headers_as_names', 'remove_gaps']);
export type Repair = z.infer<typeof repairSchema>;

/** NCBI's genetic codes other than the standard one (11) by which a run can translate. */
export const otherGeneticCodeSchema = z.literal([4, 15]);
export type OtherGeneticCode = z.infer<typeof otherGeneticCodeSchema>;
export const STANDARD_GENETIC_CODE = 11;

export const PROTOCOL_VERSION = 2;

/** Key of a part: its number from prepare, six digits or more; bisecting a part appends `.0` or `.1`. */
export const partKeySchema = z.string().regex(/^\d{6,}(\.[01])*$/);

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

export const precisionSchema = z.enum(['bf16', 'fp16', 'fp32', 'fp8']);
export type Precision = z.infer<typeof precisionSchema>;

export const embeddingPrecisionSchema = z.enum(['fp16', 'fp32']);

/** Path relative to the run folder, forward slashes on every platform. */
export const runPathSchema = z.string().regex(/^work\/[\w./-]+$/);

export const countSchema = z.int().nonnegative();

const backendRoleSchema = z.enum(['worker', 'prepare', 'monitor']);

export const helloSchema = z.object({
  type: z.literal('hello'),
  protocol: z.int(),
  role: backendRoleSchema,
  pid: z.int().positive(),
  backend_version: z.string(),
  python_version: z.string(),
});

export const logSchema = z.object({
  type: z.literal('log'),
  level: z.enum(['debug', 'info', 'warning', 'error']),
  message: z.string(),
});

export const byeSchema = z.object({
  type: z.literal('bye'),
  reason: z.enum(['stop', 'stdin_closed', 'finished']),
});
