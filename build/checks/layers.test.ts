/** The layer rules must catch violations, not only be there. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'layers-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const reportSchema = z.object({
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

/** Names of the rules that a tree of such files breaks, by file. */
async function broken(files: Record<string, string>): Promise<string[]> {
  for (const top of ['electron', 'renderer']) {
    await rm(join(folder, top), { recursive: true, force: true });
    await mkdir(join(folder, top));
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const { stdout } = await execa(
    process.execPath,
    [
      join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      join(root, '.dependency-cruiser.mjs'),
      '--output-type=json',
      'electron',
      'renderer',
    ],
    { cwd: folder, reject: false },
  );
  const { violations } = reportSchema.parse(JSON.parse(stdout)).summary;
  return violations.map(({ from, rule }) => `${from}: ${rule.name}`).sort();
}

const contract = { 'electron/contract/errors.ts': 'export const code = 1;\nexport type Code = number;\n' };
const engine = {
  ...contract,
  'electron/engine/run.ts': "import { code } from '../contract/errors.ts';\nexport const run = code;\n",
};

it('lets every layer import what it may', async () => {
  const clean = await broken({
    ...engine,
    'electron/cli/main.ts': "import { run } from '../engine/run.ts';\nrun;\n",
    'electron/main/app.ts':
      "import { app } from 'electron';\nimport { run } from '../engine/run.ts';\napp; run;\n",
    'renderer/App.tsx': "import { code } from '../electron/contract/errors.ts';\ncode;\n",
  });
  expect(clean).toEqual([]);
}, 60_000);

it('reports every kind of violation by name', async () => {
  const violations = await broken({
    ...engine,
    'electron/contract/outward.ts': "export * from '../engine/run.ts';\n",
    'electron/contract/onlyNode.ts': "import { readFile } from 'node:fs';\nreadFile;\n",
    'electron/engine/window.ts': "import { app } from 'electron';\napp;\n",
    'electron/engine/upward.ts': "import { main } from '../cli/main.ts';\nmain;\n",
    'electron/engine/circleA.ts': "import { b } from './circleB.ts';\nexport const a = b;\n",
    'electron/engine/circleB.ts': "import { a } from './circleA.ts';\nexport const b = a;\n",
    'electron/cli/main.ts': "import '../main/app.ts';\nexport const main = 1;\n",
    'electron/main/app.ts': 'export const app = 1;\n',
    'electron/preload/preload.ts': "const run = import('../engine/run.ts');\nrun;\n",
    'electron/server/server.ts':
      "import type { run } from '../cli/main.ts';\nexport type Run = typeof run;\n",
    'renderer/App.tsx': "import { run } from '../electron/engine/run.ts';\nrun;\n",
    'renderer/Types.ts': "import type { Code } from '../electron/main/app.ts';\nexport type { Code };\n",
  });
  expect(violations).toEqual([
    'electron/cli/main.ts: layer-cli',
    'electron/contract/onlyNode.ts: contract-without-node',
    'electron/contract/outward.ts: layer-contract',
    'electron/engine/circleA.ts: no-circle',
    'electron/engine/upward.ts: layer-engine',
    'electron/engine/window.ts: engine-without-electron',
    'electron/preload/preload.ts: layer-preload',
    'electron/server/server.ts: layer-server',
    'renderer/App.tsx: layer-renderer',
    'renderer/Types.ts: layer-renderer',
  ]);
}, 60_000);
