import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importLegacy } from '../inputs/importLegacy.ts';
import { temporaryFolder, testContext } from '../testing/testContext.ts';
import { lookAtWeights } from './weights.ts';

it.skipIf(process.platform === 'win32')(
  'blames files that bring their reader down, and not Python',
  async () => {
    const { environment, paths } = testContext();
    const interpreter = join(await temporaryFolder(), 'python');
    const reading = (file: string) => `echo '{"type":"reading","path":"${file}"}'`;
    for (const [script, code] of [
      [`${reading('good.pth')}; ${reading('deep.pth')}; kill -SEGV $$`, 'import_refused'],
      ['exit 1', 'python_broken'],
    ] as const) {
      writeFileSync(interpreter, `#!/bin/sh\n${script}\n`);
      chmodSync(interpreter, 0o755);
      const looked = await lookAtWeights({ ...environment, interpreter }, paths, ['good.pth', 'deep.pth']);
      expect(looked).toMatchObject({ ok: false, error: { code } });
      if (looked.ok || code !== 'import_refused') continue;
      expect(looked.error.wording?.cause).toMatchObject({ values: { file: 'deep.pth' } });
    }
  },
);

it.skipIf(process.platform === 'win32')(
  'blames a file of an earlier run for the end of its reader',
  async () => {
    const { environment } = testContext();
    const folder = await temporaryFolder();
    const interpreter = join(folder, 'python');
    writeFileSync(
      interpreter,
      `#!/bin/sh\nread command\necho '{"type":"reading","path":"deep.pt"}'\nkill -SEGV $$\n`,
    );
    chmodSync(interpreter, 0o755);
    const request = { folder, inputs: ['a.fa'], chunkLength: 500, modelFolder: folder, into: folder };
    expect(await importLegacy({ environment: { ...environment, interpreter } }, request)).toMatchObject({
      ok: false,
      error: { code: 'legacy_unusable', wording: { cause: { values: { file: 'deep.pt' } } } },
    });
  },
);
