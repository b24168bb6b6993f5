import { readdirSync, readFileSync } from 'node:fs';

/** An environment variable that every process of one test has, with a value unique to the test. */
export const MARK = 'VIRNUCPRO_TEST_FOLDER';

export interface MarkedProcess {
  pid: number;
  command: string;
}

/** Running processes that were started with this mark (Linux). */
export function markedProcesses(mark: string): MarkedProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [command, environment] = ['cmdline', 'environ'].map((file) =>
          readFileSync(`/proc/${name}/${file}`, 'utf8'),
        );
        const isMarked = command && environment?.split('\0').includes(`${MARK}=${mark}`);
        return isMarked ? [{ pid: Number(name), command: command.replaceAll('\0', ' ') }] : [];
      } catch {
        return [];
      }
    });
}

/** Python processes of the backend with this mark; `module` selects some of them, such as "worker". */
export function backendProcesses(mark: string, module = ''): MarkedProcess[] {
  return markedProcesses(mark).filter(({ command }) => command.includes(`virnucpro_backend.${module}`));
}
