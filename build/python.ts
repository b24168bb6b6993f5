/** `node build/python.ts MODULE [ARGUMENTS...]`: runs a module of the Python backend in the project's own environment. */
import { execa } from 'execa';
import { pythonLaunch } from '../electron/engine/environment/index.ts';
import { testEnvironment } from './pythonEnvironment.ts';

const [module, ...args] = process.argv.slice(2);
if (module === undefined) throw new Error('Which module?');
const launch = pythonLaunch(await testEnvironment(), module, args);
const { exitCode } = await execa(launch.file, launch.args, {
  env: launch.env,
  extendEnv: false,
  stdio: 'inherit',
  reject: false,
});
process.exitCode = exitCode ?? 1;
