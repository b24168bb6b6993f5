import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { usage } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { computerNameSchema, sshAddressSchema, type OtherComputer } from '../../contract/rpc/computers.ts';
import { replaceFile } from '../system/replaceFile.ts';
import { KeptComputer } from './keptComputer.ts';
import { connectComputer, uninstallServer, type OwnProgram } from './remoteServer.ts';
import { SshClient, type SshHost } from './sshClient.ts';
import type { Tunnel } from './tunnel.ts';

/** Contains no secrets, only names and addresses. */
const storedSchema = z.array(z.object({ id: z.uuid(), name: computerNameSchema, address: sshAddressSchema }));
type Stored = z.infer<typeof storedSchema>[number];

/** The data folder has the list and the confirmed host keys. */
interface ComputersOptions extends OwnProgram {
  readonly changed: () => void;
}

/** The other computers that the user has added, each with its connection. */
export class Computers {
  private readonly options: ComputersOptions;
  private readonly computers: { stored: Stored; kept: KeptComputer }[];

  constructor(options: ComputersOptions) {
    this.options = options;
    this.computers = readList(this.file).map((stored) => ({ stored, kept: this.kept(stored) }));
  }

  all(): OtherComputer[] {
    return this.computers.map(({ stored, kept }) => ({ ...stored, link: kept.link }));
  }

  /** If a computer has this address already, renames it. */
  add(name: string, address: string): string {
    const known = this.computers.find(({ stored }) => stored.address === address)?.stored;
    const stored = known ?? { id: randomUUID(), name, address };
    stored.name = name;
    if (!known) this.computers.push({ stored, kept: this.kept(stored) });
    this.save();
    return stored.id;
  }

  /** The computer stays in the list if its program should be deleted and that fails. */
  async remove(id: string, uninstalls = false): Promise<void> {
    const found = this.find(id);
    const { stored, kept } = found;
    if (uninstalls) {
      const ssh = kept.ssh ?? (await SshClient.signIn(this.host(stored), null));
      await uninstallServer(ssh).finally(() => (ssh === kept.ssh ? undefined : ssh.close()));
    }
    await kept.disconnect();
    this.computers.splice(this.computers.indexOf(found), 1);
    this.save();
  }

  connection(id: string): KeptComputer {
    return this.find(id).kept;
  }

  /** Undefined if the computer is not connected, or not in the list. */
  tunnel(id: string): Tunnel | undefined {
    return this.computers.find(({ stored }) => stored.id === id)?.kept.tunnel;
  }

  /** Runs on the other computers continue. */
  async close(): Promise<void> {
    await Promise.all(this.computers.map(({ kept }) => kept.disconnect()));
  }

  private find(id: string): { stored: Stored; kept: KeptComputer } {
    const found = this.computers.find(({ stored }) => stored.id === id);
    if (!found) throw usage('This computer is not in the list any more.');
    return found;
  }

  private kept(stored: Stored): KeptComputer {
    return new KeptComputer({
      changed: this.options.changed,
      connect: (...asked) => connectComputer(this.host(stored), this.options, ...asked),
    });
  }

  private host({ address }: Stored): SshHost {
    return { address, knownHosts: join(this.options.dataDir, 'known_hosts') };
  }

  private get file(): string {
    return join(this.options.dataDir, 'computers.json');
  }

  private save(): void {
    mkdirSync(dirname(this.file), { recursive: true });
    const list = this.computers.map(({ stored }) => stored);
    writeFileSync(`${this.file}.tmp`, `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 });
    replaceFile(`${this.file}.tmp`, this.file);
    this.options.changed();
  }
}

function readList(file: string): Stored[] {
  try {
    return parseJson(storedSchema, readFileSync(file, 'utf8')) ?? [];
  } catch {
    return [];
  }
}
