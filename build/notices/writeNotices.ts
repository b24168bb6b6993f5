/**
 * `npm run node -- build/notices/writeNotices.ts`: writes THIRD_PARTY_NOTICES.txt. Run it after packages were added,
 * removed or updated.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages } from './bundledPackages.ts';
import { noticesText } from './noticesText.ts';
import { pythonLicense, pythonRequirements } from './pythonRequirements.ts';

const packages = await bundledPackages();
const python = pythonRequirements().map((name) => ({ name, license: pythonLicense(name) }));
const file = join(import.meta.dirname, '..', '..', 'THIRD_PARTY_NOTICES.txt');
writeFileSync(file, noticesText(packages, python));
process.stdout.write(`${file}: ${packages.length} npm packages, ${python.length} Python packages\n`);
