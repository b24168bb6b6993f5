import { sayError } from '../../state/say.ts';
import { choosePaths, type Choice } from '../../state/pathChooser.ts';
import { openImport } from '../../state/computer/weights.ts';

/** Lets the user choose weights that are already on disk, and shows what they are. */
export function pickWeights(kind: Choice['kind']): void {
  choosePaths({ kind, purpose: 'weights' }).then(openImport, sayError);
}
