import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Lets a file fail as one on a bad sector, until the returned function is called. Node's own function is
 * replaced, since tests share their modules and a mock of ours would come too late.
 */
export function makeUnreadable(path: string): () => void {
  const { openSync } = fs;
  const replace = (open: typeof openSync): void => {
    fs.openSync = open;
    syncBuiltinESMExports();
  };
  replace((file, ...rest) => {
    if (file !== path) return openSync(file, ...rest);
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read', path });
  });
  return () => {
    replace(openSync);
  };
}
