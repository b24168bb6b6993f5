import { expect, it } from 'vitest';
import { outcome } from '../environment/testing/fakePython.ts';
import { testContext } from '../testing/testContext.ts';
import { probeDevices } from './probeDevices.ts';
import { EIGHT_H200 } from './testing/probeExamples.ts';

const { environment } = testContext();

it.each([
  ['python_broken', { ending: 'failed' as const, exitCode: 1, stderr: 'ModuleNotFoundError' }],
  ['python_broken', { stdout: 'Welcome to Python\n{}' }],
  ['python_broken', { stdout: JSON.stringify({ ...EIGHT_H200, gpus: [{ index: -1 }] }) }],
  ['protocol_version', { stdout: JSON.stringify({ ...EIGHT_H200, protocol: 99 }) }],
  ['no_usable_device', { ending: 'timed_out' as const }],
])('answers %s to %j', async (code, facts) => {
  const result = await probeDevices(environment, () => outcome(facts));
  expect(result).toMatchObject({ ok: false, error: { code } });
});

it('probes once for simultaneous requests, and again for later ones, with answers that fit the schema', async () => {
  let looks = 0;
  const look = async () => {
    looks += 1;
    await Promise.resolve();
    return outcome({ stdout: JSON.stringify(EIGHT_H200) });
  };
  const answers = await Promise.all(Array.from({ length: 60 }, () => probeDevices(environment, look)));
  expect(new Set(answers).size).toBe(1);
  expect(looks).toBe(1);
  expect(await probeDevices(environment, look)).toEqual({ ok: true, value: EIGHT_H200 });
  expect(looks).toBe(2);
});
