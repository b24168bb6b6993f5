/** Every file of the program that asks for the operating system is in the table of docs/platforms.md. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
/** In the engine, those that use what electron/engine/system says of the system here. */
const ASKS =
  /(?:system|\.)\/here\.ts'|process\.platform|'(?:win32|darwin)[-']|sys\.platform|os\.name\b|platform\.system\(/;

it('names each file that asks for the system, and no other', () => {
  const files = globSync(['electron/**/*.ts', 'python-backend/src/**/*.py'], { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .map((file) => file.replaceAll('\\', '/'));
  const asking = files.filter((file) => ASKS.test(readFileSync(join(root, file), 'utf8'))).sort();
  expect(asking).toEqual(
    expect.arrayContaining(['electron/engine/store/syncFolder.ts', 'electron/engine/system/here.ts']),
  );
  const [table = ''] = readFileSync(join(root, 'docs', 'platforms.md'), 'utf8').split('\nWithout a branch');
  const named = [...table.matchAll(/`((?:electron|python-backend)\/[^`]+)`/g)].map(([, file = '']) => file);
  expect([...named].sort()).toEqual(asking);
});
