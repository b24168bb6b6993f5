import type { EngineCalls } from './engineClient.ts';

/** Why a link ended: it broke and may come back, or this window may not talk to the engine at all. */
export type LinkEnd = 'lost' | 'refused';

export interface EngineLink {
  readonly calls: EngineCalls;
  /** Settles once, when the link has ended. */
  readonly ended: Promise<LinkEnd>;
  close(): void;
}

/** The engine answered and turned this window away, as with a wrong or outdated token. */
export class LinkRefused extends Error {
  constructor() {
    super('The engine refused this window');
    this.name = 'LinkRefused';
  }
}

/** A way to the engine. `open` rejects with `LinkRefused`, or with any other error where it may be tried again. */
export interface Transport {
  open(): Promise<EngineLink>;
}
