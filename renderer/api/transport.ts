import type { EngineCalls } from './engineClient.ts';

/** Why a link ended: it broke and may come back, or this window may not talk to the engine at all. */
export type LinkEnd = 'lost' | 'refused';

export interface EngineLink {
  readonly calls: EngineCalls;
  /** Resolves once, when the link has ended. */
  readonly ended: Promise<LinkEnd>;
  close(): void;
}

/** The engine answered and rejected this window, for example because of a wrong or outdated token. */
export class LinkRefused extends Error {
  constructor() {
    super('The engine refused this window');
    this.name = 'LinkRefused';
  }
}

/** A way to reach the engine. `open` rejects with `LinkRefused`, or with any other error if it may be retried. */
export interface Transport {
  open(): Promise<EngineLink>;
}
