/** Which Python of made-up computers an environment is made with. */
import { describe, expect, it } from 'vitest';
import { findBasePython } from './basePython.ts';
import { fakePython, type FakeComputer } from '../testing/fakePython.ts';

async function search(
  platform: NodeJS.Platform,
  computer: FakeComputer,
  { needsVenv = true, path = '/usr/local/bin:/usr/bin:/bin' } = {},
) {
  const { run, calls } = fakePython(computer);
  const result = await findBasePython({ run, env: { PATH: path }, platform, needsVenv });
  return { result, calls };
}

const STORE = String.raw`C:\Users\eva\AppData\Local\Microsoft\WindowsApps\PythonSoftwareFoundation.Python.3.12_qbz5n2kfra8p0\python.exe`;

describe('takes', () => {
  it.each<[string, NodeJS.Platform, FakeComputer['pythons'], string]>([
    ['the first that fits', 'linux', { python3: { version: [3, 11, 2] } }, '/usr/bin/python3'],
    [
      'not one that is too old',
      'linux',
      { python3: { version: [3, 9, 1] }, 'python3.11': { version: [3, 11, 0] } },
      '/usr/bin/python3.11',
    ],
    [
      'not one that is too new',
      'linux',
      { python3: { version: [3, 15, 0] }, 'python3.14': { version: [3, 14, 0] } },
      '/usr/bin/python3.14',
    ],
    [
      'an older one that the launcher of Windows knows beside 3.15',
      'win32',
      {
        'py -3.12': { version: [3, 12, 4], executable: 'C:\\Python312\\python.exe' },
        python: { version: [3, 15, 0] },
      },
      'C:\\Python312\\python.exe',
    ],
    [
      'one from python.org beside the one of the Microsoft Store',
      'win32',
      {
        'py -3.13': { version: [3, 13, 0], executable: STORE },
        'py -3.11': { version: [3, 11, 9], executable: 'C:\\Python311\\python.exe' },
      },
      'C:\\Python311\\python.exe',
    ],
    [
      'one that is not in the PATH of a program started from the Finder',
      'darwin',
      { '/opt/homebrew/bin/python3.13': { version: [3, 13, 1] } },
      '/opt/homebrew/bin/python3.13',
    ],
    [
      "python.org's on a Mac",
      'darwin',
      { '/Library/Frameworks/Python.framework/Versions/3.12/bin/python3': { version: [3, 12, 1] } },
      '/Library/Frameworks/Python.framework/Versions/3.12/bin/python3',
    ],
  ])('%s', async (_, platform, pythons, executable) => {
    const { result } = await search(platform, { pythons });
    expect(result).toMatchObject({ ok: true, value: { executable } });
  });

  it('one without venv where uv makes the environment', async () => {
    const computer: FakeComputer = { pythons: { python3: { version: [3, 12, 3], venv: false } } };
    expect((await search('linux', computer, { needsVenv: false })).result.ok).toBe(true);
  });
});

describe("Apple's stub, which opens a dialog when it is called,", () => {
  const STUB: FakeComputer = { pythons: { python3: { version: [3, 9, 6] }, '/usr/bin/python3': { version: [3, 9, 6] } } }; // prettier-ignore

  it('is not called without the developer tools', async () => {
    const { result, calls } = await search('darwin', STUB);
    expect(result).toMatchObject({ ok: false, error: { cause: expect.stringContaining('no Python was found') as string } }); // prettier-ignore
    expect(calls[0]).toContain('xcode-select -p');
    expect(calls.filter((call) => /^(\/usr\/bin\/)?python/.test(call))).toEqual([]);
  });

  it('is no stub with them', async () => {
    const newer: FakeComputer = { pythons: { python3: { version: [3, 12, 0] } }, developerTools: true };
    expect((await search('darwin', newer)).result.ok).toBe(true);
  });
});

describe('says what to do when', () => {
  it.each<[string, NodeJS.Platform, FakeComputer['pythons'], RegExp, RegExp]>([
    ['there is none', 'linux', {}, /3\.10 to 3\.14 is needed, and no Python was found/, /python\.org/],
    ['there is none on Windows', 'win32', {}, /no Python was found/, /Install Python 3\.13 from python\.org/],
    [
      'all are too old',
      'linux',
      { python3: { version: [3, 8, 18] }, python: { version: [2, 7, 18] } },
      /only 3\.8\.18, 2\.7\.18/,
      /python\.org/,
    ],
    ['there is only 3.15', 'win32', { python: { version: [3, 15, 0] } }, /only 3\.15\.0/, /Python 3\.13/],
    [
      'venv is missing',
      'linux',
      { python3: { version: [3, 12, 3], venv: false } },
      /without its venv module/,
      /sudo apt install python3\.12-venv/,
    ],
    [
      'there is only the one of the Microsoft Store',
      'win32',
      { python: { version: [3, 12, 3], executable: STORE } },
      /Microsoft Store/,
      /python\.org/,
    ],
  ])('%s', async (_, platform, pythons, cause, nextStep) => {
    const { result } = await search(platform, { pythons });
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: 'python_missing',
        cause: expect.stringMatching(cause) as string,
        nextStep: expect.stringMatching(nextStep) as string,
      },
    });
  });
});
