/**
 * `npm run python -- MODULE [ARGUMENTS...]`: runs a Python module in the project's own environment,
 * including those of benchmarks/ and training/.
 */
import { delimiter } from 'node:path';
import { execa } from 'execa';
import { pythonLaunch } from '../electron/engine/environment/pythonLaunch.ts';
import { testEnvironment } from './pythonEnvironment.ts';

const [module, ...args] = process.argv.slice(2);
if (module === undefined) throw new Error('Usage: npm run python -- MODULE [ARGUMENTS...]');
const environment = await testEnvironment();
const { file, args: moduleArgs, env } = pythonLaunch(environment, module, args);
const { exitCode } = await execa(file, moduleArgs, {
  env: {
    ...env,
    PYTHONPATH: [env['PYTHONPATH'], import.meta.dirname + '/../python-backend'].join(delimiter),
  },
  extendEnv: false,
  stdio: 'inherit',
  reject: false,
});
process.exitCode = exitCode ?? 1;
