import { delimiter } from 'node:path';
import { expect, it } from 'vitest';
import { pythonLaunch, type PythonEnvironment } from './pythonLaunch.ts';

const own: PythonEnvironment = {
  interpreter: '/data/python/bin/python',
  own: true,
  pythonVersion: '3.12.1',
  packages: {},
  source: '/app/python-backend/src',
};

const strange = {
  PATH: '/usr/bin',
  HTTPS_PROXY: 'http://proxy:3128',
  PIP_INDEX_URL: 'https://mirror/simple',
  PIP_USER: '1',
  PYTHONHOME: '/home/me/other',
  PYTHONPATH: '/home/me/other/packages',
  PYTHONSTARTUP: '/home/me/start.py',
  VIRTUAL_ENV: '/home/me/venv',
  CONDA_PREFIX: '/home/me/miniconda3',
  CONDA_DEFAULT_ENV: 'base',
  CUDA_VISIBLE_DEVICES: '2,3',
};

it('removes variables that would lead our own environment to other packages', () => {
  const { file, args, env } = pythonLaunch(own, 'virnucpro_backend.worker', ['--x'], {}, strange);
  expect([file, ...args]).toEqual([
    own.interpreter,
    '-X',
    'utf8',
    '-u',
    '-m',
    'virnucpro_backend.worker',
    '--x',
  ]);
  expect(env).toEqual({
    PATH: '/usr/bin',
    HTTPS_PROXY: 'http://proxy:3128',
    PIP_INDEX_URL: 'https://mirror/simple',
    CUDA_VISIBLE_DEVICES: '2,3',
    PYTHONPATH: '/app/python-backend/src',
    PYTHONUTF8: '1',
    PYTHONIOENCODING: 'utf-8',
    PYTHONNOUSERSITE: '1',
    PYTHONSAFEPATH: '1',
    TOKENIZERS_PARALLELISM: 'false',
    PYTHONDONTWRITEBYTECODE: '1',
  });
});

it('leaves the environment of a user’s interpreter unchanged, except for PYTHONPATH, compiled files and the current folder', () => {
  const { env } = pythonLaunch({ ...own, own: false }, 'm', [], {}, strange);
  expect(env).toEqual({
    ...strange,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONSAFEPATH: '1',
    PYTHONPATH: `/app/python-backend/src${delimiter}/home/me/other/packages`,
  });
});

it('lets Python write compiled files if the user has set a folder for them', () => {
  const { env } = pythonLaunch(own, 'm', [], {}, { PYTHONPYCACHEPREFIX: '/home/me/cache' });
  expect(env).toMatchObject({ PYTHONPYCACHEPREFIX: '/home/me/cache' });
  expect(env).not.toHaveProperty('PYTHONDONTWRITEBYTECODE');
});

it('lets overrides win, such as pinning to a GPU', () => {
  const pin = { CUDA_VISIBLE_DEVICES: 'GPU-1' };
  expect(pythonLaunch(own, 'm', [], pin, strange).env['CUDA_VISIBLE_DEVICES']).toBe('GPU-1');
});
