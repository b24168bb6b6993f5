/** What goes into the packages, checked without Electron's program, which not every computer can fetch. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getConfig, validateConfiguration } from 'app-builder-lib/out/util/config/config.js';
import { DebugLogger } from 'builder-util';
import { expect, it } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const config = await getConfig(root, join(root, 'build', 'electron-builder.yml'), null);

it('is a configuration that electron-builder takes', async () => {
  await expect(validateConfiguration(config, new DebugLogger(false))).resolves.toBeUndefined();
});

it('takes along what lies where the program looks for it', () => {
  const resources = z.array(z.object({ from: z.string(), to: z.string() })).parse(config.extraResources);
  for (const { from } of resources) expect(existsSync(join(root, from)), from).toBe(true);
  // resolveAppPaths finds a packaged program by these two.
  expect(resources.map(({ to }) => to)).toEqual(expect.arrayContaining(['python-backend', 'resources']));
});

it('ships only bundles, and unpacks what threads start from', () => {
  expect(config.files).toMatchObject([
    { filter: expect.arrayContaining(['!**/node_modules/**']) as string[] },
  ]);
  expect(config.asarUnpack).toEqual(['dist/main/storeHost.mjs', 'dist/main/*.node']);
  const packageJson: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(packageJson).toMatchObject({ main: 'dist/main/main.mjs' });
});

it('closes what would let others run code with the program', () => {
  expect(config.electronFuses).toEqual({
    runAsNode: false,
    enableCookieEncryption: true,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    grantFileProtocolExtraPrivileges: false,
    resetAdHocDarwinSignature: true,
  });
});
