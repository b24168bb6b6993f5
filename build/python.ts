/** `node build/python.ts MODULE_OR_FILE [ARGUMENTS...]`: runs Python code in the project's own environment. */
import { execa } from 'execa';
import { pythonLaunch } from '../electron/engine/environment/index.ts';
import { testEnvironment } from './pythonEnvironment.ts';

const [code, ...args] = process.argv.slice(2);
if (code === undefined) throw new Error('Which module, or which file?');
const launch = pythonLaunch(await testEnvironment(), code, args);
const { exitCode } = await execa(
  launch.file,
  code.endsWith('.py') ? ['-X', 'utf8', '-u', code, ...args] : launch.args,
  {
    env: launch.env,
    extendEnv: false,
    stdio: 'inherit',
    reject: false,
  },
);
process.exitCode = exitCode ?? 1;
