import { readdirSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_A_SECOND = 100;

/** Processor seconds by one of the system's files `stat` (Linux), and those of its processes that have ended. */
export function processorSeconds(file: string): { own: number; ofEnded: number } {
  const stat = readFileSync(file, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const sum = (at: number): number => (Number(fields[at]) + Number(fields[at + 1])) / CLOCK_TICKS_A_SECOND;
  return { own: sum(11), ofEnded: sum(13) };
}

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
