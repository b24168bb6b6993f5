/** Recognises the demo model's weights wherever they are: under another name, imported, or with a `model.json` of their own. */
import { MODEL_ROLES, type ModelManifest } from '../../contract/model.ts';

const NOTICE = 'demo model, no biological meaning';

/** SHA-256 of its ESM-2, DNABERT-S and classifier: first as they come with the program, then as importing converts them. */
const WEIGHTS: ReadonlySet<string> = new Set([
  'd22e0fb1cfab716c102a663f78e2072548df8ca2a266ba8bf3e1321f37ad90bc',
  '47af6819cf81af2c1bf1f277fee1415972a47729725165db43591415f4613d79',
  '6d8aa045cac4372b7dcb6efac8681b08643d5b7b1e48d112273cb13b50dc239f',
  '44534b34f27db8c111e7d95cf33cf2be0eeb6256e61f575c8fe748230f7e6066',
  '6fcdc462248a7212305c956edbaffa8ea0d14adaa97cd46b92e837f8e2d45398',
  'ae160a4d6b3e9b4b04035c2049a85caed859bb0f3d0daedd076c2b87d04d5a55',
]);

/** One of them is enough: whatever is computed with random numbers means nothing. */
export function withNotice(manifest: ModelManifest): ModelManifest {
  const isDemo = MODEL_ROLES.some((role) => WEIGHTS.has(manifest.files[role].sha256));
  return isDemo ? { ...manifest, notice: NOTICE } : manifest;
}
