/**
 * Takes the lock of a run folder and holds it until standard input ends: node lockingChild.ts FOLDER
 * [release].
 */
import { AppFailure } from '../../../contract/errors.ts';
import { acquireRunLock } from '../../store/runFolder.ts';

const [folder = '', ending] = process.argv.slice(2);
try {
  const lock = await acquireRunLock(folder);
  process.stdout.write('held\n');
  process.stdin.on('end', () => {
    if (ending === 'release') lock.release();
  });
  process.stdin.resume();
} catch (error) {
  process.stdout.write(error instanceof AppFailure ? `${error.error.code}\n` : `${String(error)}\n`);
}
