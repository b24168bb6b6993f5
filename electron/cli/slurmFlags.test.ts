import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';
import { whereAsked } from './clusterFlags.ts';
import { printedScript, slurmScriptCommand, type SlurmScriptFlags } from './slurmScriptCommand.ts';

function printed(...words: string[]): string {
  let script = '';
  const root = new Command();
  slurmScriptCommand(root).action((flags: SlurmScriptFlags) => {
    script = printedScript(flags);
  });
  root.parse(['slurm-script', ...words], { from: 'user' });
  return script;
}

describe('a SLURM cluster on the command line', () => {
  it('runs with a script that the program printed', async () => {
    const script = printed('--partition', 'gpu', '--gpu', 'a100', '--gpu-option', 'gpus', '--tasks', '8');
    expect(script).toContain('#SBATCH --partition=gpu\n');
    expect(script).toContain('#SBATCH --gpus=a100:1\n');
    const path = join(await temporaryFolder(), 'job.sh');
    writeFileSync(path, script);
    const place = { kind: 'slurm', script, shares: 8, login: null, on_processors: false };
    expect(whereAsked({ slurm: path }, undefined)).toEqual(place);
    expect(whereAsked({ slurm: path, slurmLogin: 'me@login' }, undefined)).toEqual({
      ...place,
      login: 'me@login',
    });
    writeFileSync(path, printed('--gpu', 'none'));
    expect(whereAsked({ slurm: path }, undefined)).toMatchObject({ shares: 4, on_processors: true });
    writeFileSync(path, '#SBATCH --array=many\n');
    expect(() => whereAsked({ slurm: path }, undefined)).toThrow('counted from 1');
  });

  it.each([
    [{ slurm: '/nowhere/job.sh' }, undefined, 'cannot be read'],
    [{ slurm: 'job.sh' }, '0', '--devices chooses'],
    [{ slurm: 'job.sh', ray: 'head:6379' }, undefined, 'one cluster'],
    [{ slurmLogin: 'me@login' }, undefined, '--slurm-login means something with --slurm only'],
  ])('is refused if %j and devices %s contradict each other', (flags, devices, words) => {
    expect(() => whereAsked(flags, devices)).toThrow(words);
  });

  it('gets no script if a setting would reach beyond its line', () => {
    expect(() => printed('--account', 'a\n#SBATCH --uid=0', '--most-at-once', '3')).toThrow('--account');
  });
});
