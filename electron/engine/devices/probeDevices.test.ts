import { expect, it } from 'vitest';
import type { CommandOutcome } from '../environment/runCommand.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { probeDevices } from './probeDevices.ts';
import { EIGHT_H200 } from './testing/probeExamples.ts';

const environment: PythonEnvironment = {
  interpreter: '/env/bin/python',
  own: true,
  pythonVersion: '3.11.7',
  packages: {},
  source: '/app/python-backend/src',
};

function answering(outcome: Partial<CommandOutcome>) {
  return () =>
    Promise.resolve({
      ending: 'succeeded' as const,
      exitCode: 0,
      stdout: '',
      stderr: '',
      summary: '',
      ...outcome,
    });
}

it('accepts a probe that fits the schema', async () => {
  const result = await probeDevices(environment, answering({ stdout: JSON.stringify(EIGHT_H200) }));
  expect(result).toEqual({ ok: true, value: EIGHT_H200 });
});

it.each([
  ['python_broken', { ending: 'failed' as const, exitCode: 1, stderr: 'ModuleNotFoundError' }],
  ['python_broken', { stdout: 'Welcome to Python\n{}' }],
  ['python_broken', { stdout: JSON.stringify({ ...EIGHT_H200, gpus: [{ index: -1 }] }) }],
  ['protocol_version', { stdout: JSON.stringify({ ...EIGHT_H200, protocol: 99 }) }],
  ['no_usable_device', { ending: 'timed_out' as const }],
])('answers %s to %j', async (code, outcome) => {
  const result = await probeDevices(environment, answering(outcome));
  expect(result).toMatchObject({ ok: false, error: { code } });
});

it('probes once for simultaneous requests, and again for later ones', async () => {
  let looks = 0;
  const look = async () => {
    looks += 1;
    await Promise.resolve();
    return answering({ stdout: JSON.stringify(EIGHT_H200) })();
  };
  const answers = await Promise.all(Array.from({ length: 60 }, () => probeDevices(environment, look)));
  expect(new Set(answers).size).toBe(1);
  expect(looks).toBe(1);
  expect((await probeDevices(environment, look)).ok).toBe(true);
  expect(looks).toBe(2);
});
