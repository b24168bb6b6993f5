import type { PoolChoice } from '../../../contract/protocol/index.ts';
import type { ClusterLive } from '../../../contract/rpc/runs.ts';
import type { WorkEvent } from './workEvents.ts';

/** State of a run's cluster, for the window. */
export class PoolProgress {
  private readonly kind: PoolChoice['kind'];
  private state: ClusterLive['state'] = 'connecting';
  private version: string | null = null;
  private job: string | null = null;
  private waiting = 0;
  private reason: string | null = null;

  constructor({ kind }: PoolChoice) {
    this.kind = kind;
  }

  observe(event: WorkEvent): void {
    switch (event.type) {
      case 'pool_starting':
        this.state = 'connecting';
        break;
      case 'pool_ready':
        this.state = 'open';
        this.version = event.version;
        this.job = event.job;
        break;
      case 'pool_waiting':
        this.waiting = event.waiting;
        this.reason = event.reason || null;
        break;
      case 'pool_died':
        this.state = event.restartAttempt === null ? 'ended' : 'restarting';
        this.waiting = 0;
        this.reason = null;
        break;
      default:
    }
  }

  live(): ClusterLive {
    const { kind, state, version, job, waiting, reason } = this;
    return { kind, state, version, job, waiting, reason };
  }
}
