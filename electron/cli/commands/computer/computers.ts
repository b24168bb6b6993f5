import { unwrap, usage } from '../../../contract/errors.ts';
import { computerNameSchema, sshAddressSchema, type OtherComputer } from '../../../contract/rpc/computers.ts';
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
export async function computers(
  action: string,
  which: string | undefined,
  flags: ComputersFlags,
): Promise<number> {
  const { root, usualDataDir: dataDir } = unwrap(resolveAppPaths({ startFolder: import.meta.dirname }));
  const known = new Computers({ dataDir, root, version: appVersion(root), changed: () => undefined });
  switch (action) {
    case 'list':
      toStandardOutput(listed(known.all(), flags.json === true));
      return EXIT.done;
    case 'add': {
      const address = parsed(sshAddressSchema, which ?? '');
      known.add(parsed(computerNameSchema, flags.name ?? address), address);
      toStandardOutput(
        `${address} is in the list. The desktop app installs VirNucPro there when it connects.`,
      );
      return EXIT.done;
    }
    case 'remove': {
      const found = known.all().find(({ name, address }) => name === which || address === which);
      if (!found)
        throw usage(
          `There is no computer ${which ?? 'without a name'} in the list.`,
          'See "virnucpro computers".',
        );
      await known.remove(found.id, flags.keepProgram !== true);
      const rest = flags.keepProgram
        ? 'The program is still there.'
        : 'The program there is deleted; weights, settings and results are still there.';
      toStandardOutput(`${found.name} is not in the list any more. ${rest}`);
      return EXIT.done;
    }
    default:
      throw usage(`There is no "virnucpro computers ${action}".`, 'There are list, add and remove.');
  }
}

function listed(all: readonly OtherComputer[], asJson: boolean): string {
  const shown = all.map(({ name, address }) => ({ name, address }));
  if (asJson) return JSON.stringify(shown);
  if (shown.length === 0)
    return 'No computer is in the list. Add one with: virnucpro computers add anna@gpu.example.org';
  return textTable(['name', 'address'], shown.map(Object.values)).join('\n');
}
