import type { PythonLaunch } from '../../environment/pythonLaunch.ts';
import { PROTOCOL_VERSION, type PartCommand } from '../../../contract/protocol/index.ts';

const PROGRAM = `
const [behaviour] = process.argv.slice(1);
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const hash = '0'.repeat(64);
say({ type: 'hello', protocol: ${PROTOCOL_VERSION}, role: 'worker', pid: process.pid, backend_version: '1', python_version: '3' });
const ready = { type: 'ready', device_uuid: null, precision: 'fp32', tokens_per_batch: 512,
  placement: 'resident', memory_profile: null, memory_free_bytes: null, attention: 'plain',
  model_hash: hash, load_seconds: 0, torch_version: '2', memory_bytes: 1 };
const done = (part) => ({ type: 'part_done', part, scores_path: '/s', scores_sha256: hash, embeddings_sha256: null, frames: 1,
  residues: 1, seconds: 1, frames_recomputed_fp32: 0, frames_failed: 0, frames_outside_norm_band: 0, norms: null, batch_halvings: 0, esm2_batches: 1, esm2_tokens: 1, peak_memory_bytes: 1, peak_allocated_bytes: null,
  repeated_proteins: 0, repeated_nucleotides: 0 });
const beat = { type: 'heartbeat', step: 'idle', steps_done: 0, part: null, processor_seconds: 0, rss_bytes: 1, device_memory_bytes: 1 };
let buffered = '';
process.stdin.on('data', (data) => {
  const lines = (buffered + data).split('\\n');
  buffered = lines.pop();
  for (const line of lines) {
    const command = JSON.parse(line);
    if (command.type === 'load' && behaviour === 'missing')
      say({ type: 'load_failed', code: 'model_missing', values: { path: '/gone' }, detail: 'No model.' });
    else if (command.type === 'load' && behaviour === 'crashes') process.kill(process.pid, 'SIGSEGV');
    else if (command.type === 'load') say(ready);
    if (command.type === 'load' && behaviour === 'idle') setInterval(() => say(beat), 100);
    if (command.type === 'part' && behaviour === 'dies') process.exit(7);
    if (command.type === 'part' && behaviour === 'garbage') process.stdout.write('hello there\\n');
    if (command.type === 'part' && behaviour === 'works') say(done(command.part));
  }
});
process.stdin.on('end', () => process.exit(0));
`;

/** A Node program that speaks a worker's protocol and behaves as `behaviour` says. */
export function madeUpWorker(behaviour: string): PythonLaunch {
  return { file: process.execPath, args: ['-e', PROGRAM, behaviour], env: {} };
}

/** A part for it; no file is opened. */
export const MADE_UP_PART: PartCommand = {
  type: 'part',
  part: '000001',
  part_path: '/p',
  part_sha256: '0'.repeat(64),
  frame_begin: 0,
  frame_end: 1,
  scores_path: '/s',
  embeddings_path: null,
};
