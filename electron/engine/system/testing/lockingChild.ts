/** Takes the lock of a run folder and holds it until standard input ends: node lockingChild.ts FOLDER. */
import { AppFailure } from '../../../contract/errors.ts';
import { acquireRunLock } from '../../store/runFolder.ts';

const [folder = ''] = process.argv.slice(2);
try {
  await acquireRunLock(folder);
  process.stdout.write('held\n');
  process.stdin.resume();
} catch (error) {
  process.stdout.write(error instanceof AppFailure ? `${error.error.code}\n` : `${String(error)}\n`);
}
