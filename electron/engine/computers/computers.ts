import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { usage } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { computerNameSchema, sshAddressSchema, type OtherComputer } from '../../contract/rpc/computers.ts';
import { replaceFile } from '../system/replaceFile.ts';
import { KeptComputer } from './keptComputer.ts';
import { connectComputer, uninstallServer, type Asked, type OwnProgram } from './remoteServer.ts';
import { SshClient, type SshHost } from './sshClient.ts';
import type { Tunnel } from './tunnel.ts';

/** Contains no secrets, only names and addresses. */
const storedSchema = z.array(z.object({ id: z.uuid(), name: computerNameSchema, address: sshAddressSchema }));

interface Listed {
  readonly id: string;
  name: string;
  readonly address: string;
  readonly kept: KeptComputer;
}

/** The data folder has the list and the confirmed host keys. */
interface ComputersOptions extends OwnProgram {
  readonly changed: () => void;
}

/** The other computers that the user has added, each with its connection. */
export class Computers {
  private readonly options: ComputersOptions;
  private readonly list: Listed[];

  constructor(options: ComputersOptions) {
    this.options = options;
    this.list = readList(this.file).map((stored) => this.listed(stored));
  }

  all(): OtherComputer[] {
    return this.list.map(({ kept, ...stored }) => ({ ...stored, link: kept.link }));
  }

  /** If a computer has this address already, renames it. */
  add(name: string, address: string): string {
    const known = this.list.find((one) => one.address === address);
    const added = known ?? this.listed({ id: randomUUID(), name, address });
    added.name = name;
    if (!known) this.list.push(added);
    this.save();
    return added.id;
  }

  /** The computer stays in the list if its program should be deleted and that fails. */
  async remove(id: string, uninstalls = false): Promise<void> {
    const found = this.find(id);
    if (uninstalls) {
      const own = found.kept.connection?.ssh;
      const ssh = own ?? (await SshClient.signIn(this.host(found.address), null));
      await uninstallServer(ssh).finally(() => (own ? undefined : ssh.close()));
    }
    await found.kept.disconnect();
    this.list.splice(this.list.indexOf(found), 1);
    this.save();
  }

  /** Throws if the computer is not in the list. */
  connection(id: string): KeptComputer {
    return this.find(id).kept;
  }

  /** Undefined if the computer is not connected, or not in the list. */
  tunnel(id: string): Tunnel | undefined {
    return this.list.find((one) => one.id === id)?.kept.connection?.tunnel;
  }

  /** Runs on the other computers continue. */
  async close(): Promise<void> {
    await Promise.all(this.list.map(({ kept }) => kept.disconnect()));
  }

  private find(id: string): Listed {
    const found = this.list.find((one) => one.id === id);
    if (!found) throw usage('This computer is not in the list any more.');
    return found;
  }

  private listed(stored: Omit<Listed, 'kept'>): Listed {
    const host = this.host(stored.address);
    const connect = (...asked: Asked) => connectComputer(host, this.options, ...asked);
    return { ...stored, kept: new KeptComputer({ changed: this.options.changed, connect }) };
  }

  private host(address: string): SshHost {
    return { address, knownHosts: join(this.options.dataDir, 'known_hosts') };
  }

  private get file(): string {
    return join(this.options.dataDir, 'computers.json');
  }

  private save(): void {
    mkdirSync(this.options.dataDir, { recursive: true });
    const list = this.list.map(({ id, name, address }) => ({ id, name, address }));
    writeFileSync(`${this.file}.tmp`, `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 });
    replaceFile(`${this.file}.tmp`, this.file);
    this.options.changed();
  }
}

function readList(file: string): z.infer<typeof storedSchema> {
  try {
    return parseJson(storedSchema, readFileSync(file, 'utf8')) ?? [];
  } catch {
    return [];
  }
}
