import type { DeviceLive, RunLive, RunSummary } from '../../electron/contract/index.ts';

/**
 * A snapshot arrives whole and as new objects, four times a second. What has not changed in it keeps its old object, so
 * that whatever shows it is not drawn anew.
 */
export function withStableParts(before: RunLive | null, now: RunLive): RunLive {
  if (before?.run.runId !== now.run.runId) return now;
  const oldDevices = new Map(before.devices.map((device) => [device.id, device]));
  return {
    ...now,
    run: isSameRun(before.run, now.run) ? before.run : now.run,
    devices: now.devices.map((device) => {
      const old = oldDevices.get(device.id);
      return old && isSameDevice(old, device) ? old : device;
    }),
    recentEvents: isSameList(before.recentEvents, now.recentEvents) ? before.recentEvents : now.recentEvents,
  };
}

/** Plan and request never change. The fraction always does, and is read from the progress instead. */
function isSameRun(a: RunSummary, b: RunSummary): boolean {
  return (
    a.name === b.name &&
    a.folder === b.folder &&
    a.interrupted === b.interrupted &&
    a.missing === b.missing &&
    a.finishedAt === b.finishedAt &&
    a.queuePosition === b.queuePosition &&
    a.sequences === b.sequences &&
    a.viralSequences === b.viralSequences &&
    JSON.stringify(a.state) === JSON.stringify(b.state)
  );
}

function isSameDevice(a: DeviceLive, b: DeviceLive): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Events are only ever added; each has its number. */
function isSameList(a: RunLive['recentEvents'], b: RunLive['recentEvents']): boolean {
  return a.length === b.length && a[0]?.id === b[0]?.id && a.at(-1)?.id === b.at(-1)?.id;
}
