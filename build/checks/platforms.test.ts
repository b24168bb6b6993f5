/**
 * Checks that the table of docs/platforms.md contains every file of the program that depends on the operating
 * system.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
/**
 * In the engine, these are the files that use what electron/engine/system reports about the current system.
 */
const ASKS =
  /(?:system|\.)\/here\.ts'|process\.platform|'(?:win32|darwin)[-']|sys\.platform|os\.name\b|platform\.system\(/;

it('lists exactly the files that check the system', () => {
  const files = globSync(['electron/**/*.ts', 'python-backend/src/**/*.py'], { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .map((file) => file.replaceAll('\\', '/'));
  const asking = files.filter((file) => ASKS.test(readFileSync(join(root, file), 'utf8'))).sort();
  expect(asking).toEqual(
    expect.arrayContaining(['electron/engine/system/replaceFile.ts', 'electron/engine/system/here.ts']),
  );
  const [table = ''] = readFileSync(join(root, 'docs', 'platforms.md'), 'utf8').split('\nWithout a branch');
  const named = [...table.matchAll(/`((?:electron|python-backend)\/[^`]+)`/g)].map(([, file = '']) => file);
  expect([...named].sort()).toEqual(asking);
});
