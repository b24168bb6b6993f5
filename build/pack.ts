/** `npm run pack [-- options of electron-builder]`: installers of this computer's kind in out/. */
import { join } from 'node:path';
import { execa } from 'execa';
import { buildDesktop } from './buildDesktop.ts';
import { buildWindow } from './buildWindow.ts';

const root = join(import.meta.dirname, '..');

await buildWindow();
await buildDesktop();
const result = await execa(
  process.execPath,
  [
    join(root, 'node_modules', 'electron-builder', 'cli.js'),
    '--config',
    join(root, 'build', 'electron-builder.yml'),
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit', reject: false },
);
process.exitCode = result.exitCode ?? 1;
