import { sayError } from '../../state/say.ts';
import { choosePaths, type Choice } from '../../state/pathChooser.ts';
import { openImport } from '../../state/computer/weights.ts';

/** Lets weights be chosen that are on a disk already, and shows what they are. */
export function pickWeights(kind: Choice['kind']): void {
  choosePaths({ kind, purpose: 'weights' }).then(openImport, sayError);
}
