import { createORPCClient, type ClientContext, type ClientLink } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import type { contract } from '../../electron/contract/index.ts';

/** Every call of the contract, typed; made over whichever transport this window has. */
export type EngineClient = ContractRouterClient<typeof contract>;

export function createEngineClient(link: ClientLink<ClientContext>): EngineClient {
  return createORPCClient<EngineClient>(link);
}
