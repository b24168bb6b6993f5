/** `node build/python.ts MODULE_OR_FILE [ARGUMENTS...]`: runs Python code in the project's own environment. */
import { resolve } from 'node:path';
import { execa } from 'execa';
import { pythonLaunch } from '../electron/engine/environment/pythonLaunch.ts';
import { testEnvironment } from './pythonEnvironment.ts';

const [code, ...args] = process.argv.slice(2);
if (code === undefined) throw new Error('Which module, or which file?');
const environment = await testEnvironment();
const isFile = code.endsWith('.py');
// A script imports what lies beside it, which the program itself never does.
const launch = pythonLaunch(environment, code, args, isFile ? { PYTHONSAFEPATH: '' } : {});
const file = resolve(import.meta.dirname, '..', code);
const { exitCode } = await execa(launch.file, isFile ? ['-X', 'utf8', '-u', file, ...args] : launch.args, {
  env: launch.env,
  extendEnv: false,
  stdio: 'inherit',
  reject: false,
});
process.exitCode = exitCode ?? 1;
