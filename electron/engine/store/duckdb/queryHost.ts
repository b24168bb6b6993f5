import type { AppError } from '../../../contract/errors.ts';
import { QUERY_LIMITS, type QueryAnswer } from '../../../contract/rpc/results.ts';
import { HERE } from '../../system/here.ts';
import { endByForce } from '../../system/liveProcess.ts';
import type { FileStamps } from '../checkedFiles.ts';
import type { QueryQuestion, QueryReply, QueryTask } from './queryProcess.ts';

/** What the process of a query needs of a run, opened in the current folder. */
interface OpenedRun {
  deriveResults: (milliseconds: number) => Promise<boolean>;
  answerQuery: (question: QueryQuestion, begins: () => void) => Promise<QueryAnswer>;
  soundFiles: () => FileStamps;
}

interface QueryHost {
  open: (folder: string, sound: FileStamps) => OpenedRun;
  describeError: (error: unknown, folder: string) => AppError;
}

const WATCH_MS = 10;
/** The program that asked kills this process as soon as it is told. */
const TOLD_MS = 200;
const DERIVE_SLICE_MS = 100;

/**
 * The other side of queryProcess.ts: answers one query, and waits to be killed. It works in the folder of the
 * run, so that no sign in the folder's path has a meaning for DuckDB.
 */
export function serveQuery({ open, describeError }: QueryHost): void {
  const { send, onTask } = channel();
  onTask((task) => {
    limitMemory(() => {
      send({ type: 'large' });
    });
    void answerOf(task).then(send, (error: unknown) => {
      send({ type: 'failed', error: describeError(error, task.folder) });
    });
  });

  async function answerOf({ folder, question, sound }: QueryTask): Promise<QueryReply> {
    process.chdir(folder);
    const run = open('.', sound);
    while (!(await run.deriveResults(DERIVE_SLICE_MS)));
    const answer = await run.answerQuery(question, () => {
      send({ type: 'begins' });
    });
    return { type: 'answered', answer, sound: run.soundFiles() };
  }
}

/**
 * Holds this process to the memory that a query may take: by the system's own limit, and by watching itself
 * where there is none, or it cannot be set.
 */
function limitMemory(tell: () => void): void {
  try {
    HERE.limitOwnMemory(QUERY_LIMITS.processBytes);
  } catch {
    // Some Linux has no `prlimit`.
  }
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() < QUERY_LIMITS.processBytes) return;
    clearInterval(watch);
    tell();
    setTimeout(endByForce, TOLD_MS);
  }, WATCH_MS);
}

/** Node's channel to the process that started this one, or that of a process started by Electron. */
function channel(): {
  send: (reply: QueryReply) => void;
  onTask: (listener: (task: QueryTask) => void) => void;
} {
  const { parentPort } = process as { parentPort?: ElectronPort };
  if (parentPort)
    return {
      send: (reply) => parentPort.postMessage(reply),
      onTask: (listener) => {
        parentPort.once('message', ({ data }) => {
          listener(data);
        });
      },
    };
  // Without it nobody would end this process.
  process.once('disconnect', endByForce);
  return {
    send: (reply) => void process.send?.(reply),
    onTask: (listener) => void process.once('message', listener),
  };
}

interface ElectronPort {
  postMessage: (message: QueryReply) => void;
  once: (event: 'message', listener: (event: { data: QueryTask }) => void) => void;
}
