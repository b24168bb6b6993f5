import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { usage } from '../../../contract/errors.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { sshAddressSchema, type OtherComputer } from '../../../contract/rpc/computers.ts';
import { writeJson } from '../../system/replaceFile.ts';
import { KeptComputer } from './keptComputer.ts';
import { connectComputer, type Asked, type OwnProgram } from './remoteServer.ts';
import type { Tunnel } from './tunnel.ts';

/** The data folder has the list of addresses and the confirmed host keys, and no secrets. */
type ComputersOptions = OwnProgram & { readonly changed: () => void };

/** The other computers that the user has added, by address, each with its connection. */
export class Computers {
  private readonly options: ComputersOptions;
  private readonly file: string;
  private readonly kept = new Map<string, KeptComputer>();

  constructor(options: ComputersOptions) {
    this.options = options;
    this.file = join(options.dataDir, 'computers.json');
    const text = existsSync(this.file) ? readFileSync(this.file, 'utf8') : undefined;
    for (const address of parseJson(z.array(sshAddressSchema), text) ?? []) this.keep(address);
  }

  all(): OtherComputer[] {
    return [...this.kept].map(([address, { link }]) => ({ address, link }));
  }

  add(address: string): void {
    if (!this.kept.has(address)) this.keep(address);
    this.save();
  }

  /** The program and the runs there stay. */
  async remove(address: string): Promise<void> {
    await this.get(address).disconnect();
    this.kept.delete(address);
    this.save();
  }

  /** Throws if the computer is not in the list. */
  get(address: string): KeptComputer {
    const found = this.kept.get(address);
    if (!found) throw usage('This computer is not in the list any more.');
    return found;
  }

  /** Undefined if the computer is not connected, or not in the list. */
  tunnel(address: string): Tunnel | undefined {
    return this.kept.get(address)?.connection?.tunnel;
  }

  /** Runs on the other computers continue. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.kept.values(), (kept) => kept.disconnect()));
  }

  private keep(address: string): void {
    const { dataDir, changed } = this.options;
    const host = { address, knownHosts: join(dataDir, 'known_hosts') };
    const connect = (...asked: Asked) => connectComputer(host, this.options, ...asked);
    this.kept.set(address, new KeptComputer({ changed, connect }));
  }

  private save(): void {
    mkdirSync(this.options.dataDir, { recursive: true });
    writeJson(this.file, [...this.kept.keys()], 0o600);
    this.options.changed();
  }
}
