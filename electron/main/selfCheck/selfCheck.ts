import { app } from 'electron';
import { AppFailure } from '../../contract/errors.ts';
import { desktopPoints } from './desktopPoints.ts';
import { copyPoints } from './copyPoints.ts';
import { enginePoints } from './enginePoints.ts';
import { pagePoints } from './pagePoints.ts';
import type { Checked, Point } from './point.ts';

const POINT_WITHIN_MS = 60_000;

/** Checks whether Electron does here what the program expects of it, prints a line a point, and exits with 0 or 1. */
export async function selfCheck(checked: Checked): Promise<void> {
  const { service, log } = checked;
  const points = [...desktopPoints, ...pagePoints, ...copyPoints, ...enginePoints];
  let failed = 0;
  for (const [index, point] of points.entries()) {
    const [verdict, words] = await verdictOf(point, checked);
    if (verdict === 'FAIL') failed += 1;
    const line = `${verdict.padEnd(4)} ${String(index + 1).padStart(2)} ${point.what}: ${words}`;
    log.write(verdict === 'FAIL' ? 'error' : 'info', `Self-check: ${line}`);
    process.stdout.write(`${line}\n`);
  }
  process.stdout.write(
    failed === 0
      ? 'Everything holds.\n'
      : `${failed} of ${points.length} points do not hold. Log: ${log.file}\n`,
  );
  await service.close().catch(() => undefined);
  app.exit(failed === 0 ? 0 : 1);
}

async function verdictOf(
  { check, withinMs = POINT_WITHIN_MS }: Point,
  checked: Checked,
): Promise<['ok' | 'skip' | 'FAIL', string]> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const finding = await Promise.race([
      check(checked),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer in ${withinMs / 1000} s`)), withinMs);
      }),
    ]);
    return typeof finding === 'string' ? ['ok', finding] : ['skip', finding.skipped];
  } catch (reason) {
    if (reason instanceof AppFailure) return ['FAIL', `${reason.error.title}. ${reason.error.cause}`];
    return ['FAIL', reason instanceof Error ? reason.message : String(reason)];
  } finally {
    clearTimeout(timer);
  }
}
