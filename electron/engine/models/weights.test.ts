import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modelManifestSchema } from '../../contract/model.ts';
import { importLegacy } from '../inputs/importLegacy.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { withNotice } from './modelFolder.ts';
import { importModels, lookAtWeights } from './weights.ts';

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
    const looked = await lookAtWeights({ ...environment, interpreter }, paths, ['good.pth', 'deep.pth']);
    expect(looked).toMatchObject({ ok: false, error: { code } });
    if (looked.ok || code !== 'import_refused') continue;
    expect(looked.error.wording?.cause).toMatchObject({ values: { file: 'deep.pth' } });
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

it.skipIf(WITHOUT_PYTHON)('gives a reason for each file that is not used, in every language', async () => {
  const { environment, paths: appPaths } = testContext();
  const folder = temporaryFolder();
  const paths = { ...appPaths, dataDir: folder };
  const [link, cut] = [join(folder, '500_model.pth'), join(folder, 'esm2_t36_3B_UR50D.pt')];
  writeFileSync(link, 'version https://git-lfs.github.com/spec/v1\n');
  writeFileSync(cut, Buffer.alloc(13_000));
  const looked = await lookAtWeights(environment, paths, [link, cut]);
  expect(looked).toMatchObject({
    ok: true,
    value: {
      files: [
        { path: link, noteWording: { key: 'weights.lfs' } },
        {
          path: cut,
          noteWording: {
            key: 'weights.too_small',
            values: { size: { values: { bytes: 13_000 } }, published: { values: { bytes: 5_678_116_398 } } },
          },
        },
      ],
    },
  });
  const imported = await importModels(environment, paths, { paths: [link, cut] });
  expect(imported).toMatchObject({ ok: false, error: { code: 'import_refused' } });
});
