import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';
import { scriptOf, whereAsked } from './clusterFlags.ts';

describe('where a run computes', () => {
  it('defaults to this computer', () => {
    expect(whereAsked({}, undefined)).toBeUndefined();
    expect(whereAsked({ ray: 'head:6379', shares: 3 }, undefined)).toEqual({
      kind: 'ray',
      address: 'head:6379',
      shares: 3,
      cpus: 0,
    });
  });

  it('is a SLURM cluster if a script is named, such as one that the program printed', () => {
    const script = scriptOf(['--partition', 'gpu', '--gres=gpu:4', '--comment', 'a b', '-a', '1-8%2'], false);
    expect(script).toContain(
      "\n#SBATCH --partition gpu\n#SBATCH --gres=gpu:4\n#SBATCH --comment 'a b'\n#SBATCH -a 1-8%2\n",
    );
    const path = join(temporaryFolder(), 'job.sh');
    writeFileSync(path, script);
    const place = { kind: 'slurm', script, shares: 8, on_processors: false };
    expect(whereAsked({ slurm: path }, undefined)).toEqual(place);
    const onProcessors = scriptOf([], true);
    expect(onProcessors).not.toContain('gpu');
    writeFileSync(path, onProcessors);
    expect(whereAsked({ slurm: path }, undefined)).toMatchObject({ shares: 4, on_processors: true });
    writeFileSync(path, '#SBATCH --array=many\n');
    expect(() => whereAsked({ slurm: path }, undefined)).toThrow('counted from 1');
    expect(() => scriptOf(['--account=a\n#SBATCH --uid=0'], false)).toThrow('one line');
  });

  it.each([
    [{ ray: 'head:6379' }, '0', '--devices chooses'],
    [{ shares: 2 }, undefined, '--shares means something with --ray only'],
    [{ ray: 'ray://head:10001' }, undefined, '--ray takes HOST:PORT'],
    [{ cpus: 2 }, undefined, '--cpus means something with --ray only'],
    [{ slurm: '/nowhere/job.sh' }, undefined, 'cannot be read'],
    [{ slurm: 'job.sh' }, '0', '--devices chooses'],
    [{ slurm: 'job.sh', ray: 'head:6379' }, undefined, 'one cluster'],
  ])('is refused if %j and devices %s contradict each other', (flags, devices, words) => {
    expect(() => whereAsked(flags, devices)).toThrow(words);
  });
});
