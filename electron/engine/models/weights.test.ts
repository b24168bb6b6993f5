import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modelManifestSchema } from '../../contract/model.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { importLegacy } from '../inputs/importLegacy.ts';
import { temporaryFolder, testContext } from '../testing/testContext.ts';
import { withNotice } from './modelFolder.ts';
import { importModels } from './weights.ts';

const UNKNOWN = { path: 'x', size: 1, sha256: '0'.repeat(64) };

/** An environment whose Python is this script of a shell. */
function python(script: string): PythonEnvironment {
  const interpreter = join(temporaryFolder(), 'python');
  writeFileSync(interpreter, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { ...testContext().environment, interpreter };
}

it.skipIf(process.platform === 'win32')('blames files that crash their reader, and not Python', async () => {
  const { paths } = testContext();
  const reading = (file: string) => `echo '{"type":"reading","path":"${file}"}'`;
  for (const [script, code] of [
    [`${reading('good.pth')}; ${reading('deep.pth')}; kill -SEGV $$`, 'import_refused'],
    ['exit 1', 'python_broken'],
  ] as const) {
    const imported = await importModels(python(script), paths, { paths: ['good.pth', 'deep.pth'] });
    expect(imported).toMatchObject({ ok: false, error: { code } });
    if (imported.ok || code !== 'import_refused') continue;
    expect(imported.error.wording?.cause).toMatchObject({ values: { file: 'deep.pth' } });
  }
});

it.skipIf(process.platform === 'win32')('blames a file of an earlier run if its reader crashes', async () => {
  const folder = temporaryFolder();
  const environment = python(`read command\necho '{"type":"reading","path":"deep.pt"}'\nkill -SEGV $$`);
  const request = { folder, inputs: ['a.fa'], chunkLength: 500, modelFolder: folder, into: folder };
  expect(await importLegacy({ environment }, request)).toMatchObject({
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
