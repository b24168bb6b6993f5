/** `npm run node -- build/notices/writeBillOfMaterials.ts FILE`: writes the bill of materials of a release. */
import { writeFileSync } from 'node:fs';
import { billOfMaterials } from './billOfMaterials.ts';
import { bundledPackages } from './bundledPackages.ts';

const [file = 'bill-of-materials.cdx.json'] = process.argv.slice(2);
writeFileSync(file, `${JSON.stringify(billOfMaterials(await bundledPackages()), null, 2)}\n`);
