import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modelManifestSchema } from '../../contract/model.ts';
import { importLegacy } from '../inputs/importLegacy.ts';
import { temporaryFolder, testContext } from '../testing/testContext.ts';
import { withNotice } from './modelFolder.ts';
import { importModels } from './weights.ts';

const UNKNOWN = { path: 'x', size: 1, sha256: '0'.repeat(64) };

it.skipIf(process.platform === 'win32')('blames files that crash their reader, and not Python', async () => {
  const { environment, paths } = testContext();
  const interpreter = join(temporaryFolder(), 'python');
  const reading = (file: string) => `echo '{"type":"reading","path":"${file}"}'`;
  for (const [script, code] of [
    [`${reading('good.pth')}; ${reading('deep.pth')}; kill -SEGV $$`, 'import_refused'],
    ['exit 1', 'python_broken'],
  ] as const) {
    writeFileSync(interpreter, `#!/bin/sh\n${script}\n`);
    chmodSync(interpreter, 0o755);
    const imported = await importModels({ ...environment, interpreter }, paths, {
      paths: ['good.pth', 'deep.pth'],
    });
    expect(imported).toMatchObject({ ok: false, error: { code } });
    if (imported.ok || code !== 'import_refused') continue;
    expect(imported.error.wording?.cause).toMatchObject({ values: { file: 'deep.pth' } });
  }
});

it.skipIf(process.platform === 'win32')('blames a file of an earlier run if its reader crashes', async () => {
  const { environment } = testContext();
  const folder = temporaryFolder();
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
});

it('keeps the mark of weights that are not for research, under any name', () => {
  const manifest = modelManifestSchema.parse(
    JSON.parse(readFileSync(join(testContext().paths.resources, 'teaching-model', 'model.json'), 'utf8')),
  );
  const { tokenizer } = manifest.files;
  const others = { esm2: UNKNOWN, dnabert_s: UNKNOWN, tokenizer, head: UNKNOWN };
  expect(withNotice({ ...manifest, files: others, notice: null }).notice).toBeNull();
  for (const role of ['esm2', 'dnabert_s', 'head'] as const) {
    const files = { ...others, [role]: manifest.files[role] };
    expect(withNotice({ ...manifest, files, notice: null }).notice, role).not.toBeNull();
  }
});
