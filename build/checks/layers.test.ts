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
  'electron/engine/index.ts': "import { code } from '../contract/errors.ts';\nexport const run = code;\n",
};
const use = (path: string): string => `import { x } from '${path}';\nexport const y = x;\n`;
const x = 'export const x = 1;\n';

it('lets every layer import what it may', async () => {
  const clean = await broken({
    ...engine,
    'electron/cli/main.ts': "import { run } from '../engine/index.ts';\nrun;\n",
    'electron/main/app.ts':
      "import { app } from 'electron';\nimport { run } from '../engine/index.ts';\napp; run;\n",
    'renderer/App.tsx': "import { code } from '../electron/contract/errors.ts';\ncode;\n",
    'electron/engine/results/a.ts': x,
    'electron/engine/engineContext.ts': x,
    'electron/engine/store/sqlite/b.ts': `import Database from 'better-sqlite3';\nDatabase;\n${use('../../results/a.ts')}`,
    'electron/engine/run/work/c.ts': `import '../../engineContext.ts';\n${use('../../results/a.ts')}`,
    'electron/engine/service/d.ts': "import '../run/work/c.ts';\nimport '../store/sqlite/b.ts';\n",
    // Tests may look anywhere.
    'electron/engine/results/a.test.ts': "import '../service/d.ts';\nimport 'better-sqlite3';\n",
    'electron/cli/testing/e.ts': "import '../../engine/run/work/c.ts';\n",
  });
  expect(clean).toEqual([]);
});

it('lets shells use the engine by its door only, and no import inside it run back up', async () => {
  const violations = await broken({
    ...engine,
    'electron/engine/engineContext.ts': x,
    'electron/engine/results/a.ts': x,
    'electron/engine/format/a.ts': use('../results/a.ts'),
    'electron/engine/inputs/a.ts': use('../engineContext.ts'),
    'electron/engine/models/a.ts': use('../../engine/run/a.ts'),
    'electron/engine/run/a.ts': `import type { y } from '../service/a.ts';\nexport type Y = typeof y;\n${x}`,
    'electron/engine/service/a.ts': `import { run } from '../index.ts';\nrun;\nexport const y = 1;\n`,
    'electron/engine/store/face.ts': "import Database from 'better-sqlite3';\nDatabase;\n",
    'electron/cli/a.ts': use('../engine/run/a.ts'),
    'electron/server/a.ts': "import type { y } from '../engine/service/a.ts';\nexport type Y = typeof y;\n",
    'electron/main/a.ts': use('../engine/results/a.ts'),
  });
  expect(violations).toEqual([
    'electron/cli/a.ts: engine-door',
    'electron/engine/format/a.ts: engine-format',
    'electron/engine/inputs/a.ts: engine-inputs',
    'electron/engine/models/a.ts: engine-models',
    'electron/engine/run/a.ts: engine-run',
    'electron/engine/service/a.ts: engine-service',
    'electron/engine/store/face.ts: sqlite-in-one-folder',
    'electron/main/a.ts: engine-door',
    'electron/server/a.ts: engine-door',
  ]);
});

it('reports every kind of violation by name', async () => {
  const violations = await broken({
    ...engine,
    'electron/contract/outward.ts': "export * from '../engine/index.ts';\n",
    'electron/contract/onlyNode.ts': "import { readFile } from 'node:fs';\nreadFile;\n",
    'electron/engine/window.ts': "import { app } from 'electron';\napp;\n",
    'electron/engine/upward.ts': "import { main } from '../cli/main.ts';\nmain;\n",
    'electron/engine/circleA.ts': "import { b } from './circleB.ts';\nexport const a = b;\n",
    'electron/engine/circleB.ts': "import { a } from './circleA.ts';\nexport const b = a;\n",
    'electron/cli/main.ts': "import '../main/app.ts';\nexport const main = 1;\n",
    'electron/main/app.ts': 'export const app = 1;\n',
    'electron/preload/preload.ts': "const run = import('../engine/index.ts');\nrun;\n",
    'electron/server/server.ts':
      "import type { run } from '../cli/main.ts';\nexport type Run = typeof run;\n",
    'renderer/App.tsx': "import { run } from '../electron/engine/index.ts';\nrun;\n",
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
});
