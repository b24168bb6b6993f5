import { readdirSync, readFileSync } from 'node:fs';

/** The environment variable that every process of one test has, with a value of the test's own. */
export const MARK = 'VIRNUCPRO_TEST_FOLDER';

export interface MarkedProcess {
  pid: number;
  command: string;
}

/** Processes that were started with this mark and have not ended (Linux). */
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

/** Python processes of the backend with this mark; `module` narrows them down, such as to "worker". */
export function backendProcesses(mark: string, module = ''): MarkedProcess[] {
  return markedProcesses(mark).filter(({ command }) => command.includes(`virnucpro_backend.${module}`));
}
