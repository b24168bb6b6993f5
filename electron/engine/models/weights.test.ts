import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder, testContext } from '../testing/testContext.ts';
import { lookAtWeights } from './weights.ts';

it.skipIf(process.platform === 'win32')(
  'blames files that bring their reader down, and not Python',
  async () => {
    const { environment, paths } = testContext();
    const interpreter = join(await temporaryFolder(), 'python');
    for (const [script, code] of [
      ['kill -SEGV $$', 'import_refused'],
      ['exit 1', 'python_broken'],
    ]) {
      writeFileSync(interpreter, `#!/bin/sh\n${script}\n`);
      chmodSync(interpreter, 0o755);
      const looked = await lookAtWeights({ ...environment, interpreter }, paths, ['deep.pth']);
      expect(looked).toMatchObject({ ok: false, error: { code } });
    }
  },
);
