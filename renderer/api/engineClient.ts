import { createORPCClient, type ClientContext, type ClientLink } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import type { contract } from '../../electron/contract/index.ts';

/** Carries calls to the engine over whichever transport this window uses. */
export type EngineCalls = ClientLink<ClientContext>;

/** Every call of the contract, typed. */
type EngineClient = ContractRouterClient<typeof contract>;

export function createEngineClient(calls: EngineCalls): EngineClient {
  return createORPCClient<EngineClient>(calls);
}
