import { unwrap, usage } from '../../../contract/errors.ts';
import { computerNameSchema, sshAddressSchema } from '../../../contract/rpc/computers.ts';
import { Computers, resolveAppPaths } from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { appVersion } from '../../openEngine.ts';
import { toStandardOutput, textTable } from '../../output/terminal.ts';
import { parsed } from '../../commonFlags.ts';

export interface ComputersFlags {
  json?: boolean;
  name?: string;
  keepProgram?: boolean;
}

/** Manages the computers that the desktop app reaches through SSH: `list`, `add ADDRESS`, `remove NAME`. */
export async function computers(action: string, which = '', flags: ComputersFlags): Promise<number> {
  const { root, usualDataDir: dataDir } = unwrap(resolveAppPaths({ startFolder: import.meta.dirname }));
  const known = new Computers({ dataDir, root, version: appVersion(root), changed: () => undefined });
  const listed = known.all().map(({ name, address }) => ({ name, address }));
  switch (action) {
    case 'list':
      if (flags.json) toStandardOutput(JSON.stringify(listed));
      else toStandardOutput(textTable(['name', 'address'], listed.map(Object.values)).join('\n'));
      return EXIT.done;
    case 'add': {
      const address = parsed(sshAddressSchema, which);
      known.add(parsed(computerNameSchema, flags.name ?? address), address);
      toStandardOutput(
        `${address} is in the list. The desktop app installs VirNucPro there when it connects.`,
      );
      return EXIT.done;
    }
    case 'remove': {
      const found = known.all().find(({ name, address }) => name === which || address === which);
      if (!found) throw usage(`There is no computer "${which}" in the list.`, 'See "virnucpro computers".');
      await known.remove(found.id, flags.keepProgram !== true);
      const rest = flags.keepProgram ? 'The program' : 'The program there is deleted; its data';
      toStandardOutput(`${found.name} is not in the list any more. ${rest} is still there.`);
      return EXIT.done;
    }
    default:
      throw usage(`There is no "virnucpro computers ${action}".`, 'There are list, add and remove.');
  }
}
