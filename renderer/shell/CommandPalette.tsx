import { Kbd } from '@mantine/core';
import { useHotkeys, type HotkeyItem } from '@mantine/hooks';
import { Spotlight, spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { useTexts } from '../i18n/index.ts';
import { useComputers } from '../state/computer/computers.ts';
import { lacksEnvironment, useEnvironment } from '../state/computer/environment.ts';
import { useLiveRun } from '../state/runs/liveRun.ts';
import { useNavigation } from '../state/navigation.ts';
import { isLeftOut, useNumberedDevices } from '../state/runs/deviceLabels.ts';
import { useRuns } from '../state/runs/runs.ts';
import { commandsFor, type Seen } from './commands.ts';
import { keyNames } from '../i18n/keyNames.ts';

/** Shows every action and the newest runs; older runs are found by name. */
const MOST_SHOWN = 120;

/** Opens with Ctrl+K and lists every action by name, with its keys beside it; the keys work everywhere. */
export function CommandPalette() {
  const texts = useTexts();
  const { t } = texts;
  const route = useNavigation((state) => state.route);
  const runs = useRuns((state) => state.runs);
  const seen = useSeen();
  const commands = useMemo(() => commandsFor(route, runs ?? [], seen, texts), [route, runs, seen, texts]);
  useHotkeys(commands.flatMap(({ keys, run }): HotkeyItem[] => (keys === undefined ? [] : [[keys, run]])));
  const groups = useMemo(
    () =>
      [...Map.groupBy(commands, ({ group }) => group)].map(([group, members]): SpotlightActionGroupData => ({
        group,
        actions: members.map(({ id, label, hint, keys, run }) => ({
          id,
          label,
          ...(hint && { description: hint }),
          rightSection: keys && <Kbd size="xs">{keyNames(keys)}</Kbd>,
          onClick: run,
        })),
      })),
    [commands],
  );
  return (
    <Spotlight
      actions={groups}
      shortcut="mod+K"
      nothingFound={t('palette.nothing')}
      limit={MOST_SHOWN}
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: t('palette.search'),
        'aria-label': t('palette.search'),
      }}
      attributes={{ content: { 'aria-label': t('palette.search') } }}
      styles={{ actionLabel: { overflowWrap: 'anywhere' } }}
    />
  );
}

export const openPalette = () => spotlight.open();

/** Changes only when the list of commands does, not with every snapshot of a run. */
function useSeen(): Seen {
  const isRead = useLiveRun((state) => state.live?.progress.prepare.finished ?? false);
  const lacksPython = useEnvironment(({ status }) => lacksEnvironment(status));
  const hasComputers = useComputers() !== null;
  const devices = useNumberedDevices();
  const out = useLiveRun(useShallow((state) => state.live?.devices.map((device) => isLeftOut(device)) ?? []));
  return useMemo(
    () => ({
      lacksPython,
      hasComputers,
      isRead,
      devices: devices.map((device, number) => ({ ...device, isOut: out[number] ?? false })),
    }),
    [lacksPython, hasComputers, isRead, devices, out],
  );
}
