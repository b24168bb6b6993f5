import { type EngineContext, formatBytes, probeDevices } from '../../../engine/index.ts';
import { unwrap } from '../../../contract/result.ts';
import { gpuLine } from '../../output/deviceLine.ts';
import { toStandardOutput } from '../../output/terminal.ts';

export async function devices(context: EngineContext, json: boolean): Promise<number> {
  const probe = unwrap(await probeDevices(context.environment));
  if (json) {
    process.stdout.write(`${JSON.stringify(probe)}\n`);
    return 0;
  }
  const lines = probe.gpus.map(gpuLine);
  if (probe.apple_mps) lines.push('mps    Apple GPU, never tested with this program');
  if (probe.no_gpu_reason) lines.push(`No GPU: ${probe.no_gpu_reason}`);
  lines.push(
    `CPU    ${probe.cpu.name}, ${probe.cpu.logical_cores} cores, ` +
      `${formatBytes(probe.cpu.memory_available_bytes)} of ${formatBytes(probe.cpu.memory_total_bytes)} memory free`,
  );
  toStandardOutput(lines.join('\n'));
  return 0;
}
