import { pythonLaunch } from '../../environment/pythonLaunch.ts';
import { join } from 'node:path';
import {
  monitorEventSchema,
  type DeviceSample,
  type MonitorEvent,
} from '../../../contract/protocol/index.ts';
import { NO_GPU } from '../../devices/chosenDevice.ts';
import type { EngineContext } from '../engineContext.ts';
import type { RunStore } from '../../store/runStore.ts';
import { BackendProcess } from '../../workers/backendProcess.ts';
import type { DeviceTelemetry } from './deviceTelemetry.ts';
import { noteImbalance } from './remarks.ts';
import type { RunNotes } from '../runNotes.ts';

const STOP_GRACE_MS = 1_000;
const LOOK_FOR_UNEVENNESS_MS = 60_000;

/** Measures the devices of a run once a second, for the window and for run.db. */
export class DeviceMonitor {
  private readonly store: RunStore;
  private readonly notes: RunNotes;
  private readonly devices: () => readonly DeviceTelemetry[];
  private readonly process: BackendProcess<MonitorEvent>;
  private unevennessNoted = false;
  private lookedAt = Date.now();

  constructor(
    context: EngineContext,
    store: RunStore,
    notes: RunNotes,
    devices: () => readonly DeviceTelemetry[],
  ) {
    this.store = store;
    this.notes = notes;
    this.devices = devices;
    const gpus = devices()
      .filter(({ device }) => device.local.kind === 'cuda')
      .flatMap(({ device }) => ['--uuid', device.id]);
    this.process = new BackendProcess(
      pythonLaunch(
        context.environment,
        'virnucpro_backend.devices.monitor',
        ['--interval', '1', ...gpus],
        NO_GPU,
      ),
      join(store.folder, 'logs', 'monitor.log'),
      monitorEventSchema,
      (event) => {
        // Without a monitor the dashboard shows no measurements; the run doesn't depend on them.
        if (event.type === 'message' && event.message.type === 'sample') this.take(event.message);
      },
    );
  }

  async stop(): Promise<void> {
    await this.process.stop(STOP_GRACE_MS);
  }

  private take(sample: DeviceSample): void {
    const now = Date.now();
    const devices = this.devices();
    const measured = new Map(sample.devices.map((device) => [device.uuid, device]));
    for (const one of devices) one.measure(measured.get(one.device.id));
    // Losing a sample does no harm; a full disk is reported by the call that stores scores.
    this.store.addSamples(devices.map((device) => device.sampleRow(now))).catch(() => undefined);
    if (this.unevennessNoted || now - this.lookedAt < LOOK_FOR_UNEVENNESS_MS) return;
    this.lookedAt = now;
    this.lookForUnevenness();
  }

  private lookForUnevenness(): void {
    noteImbalance(this.store, this.notes).then(
      (noted) => {
        this.unevennessNoted = noted;
      },
      () => undefined,
    );
  }
}
