import { Kbd } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Spotlight, spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTexts } from '../i18n/index.ts';
import { useNavigation } from '../state/navigation.ts';
import { useRuns } from '../state/runs.ts';
import classes from './CommandPalette.module.css';
import { commandsFor } from './commands.ts';
import { keyNames } from './keyNames.ts';

/** Opens with Ctrl+K: every action by name, with its keys beside it; the keys work everywhere. */
export function CommandPalette() {
  const texts = useTexts();
  const { t } = texts;
  const route = useNavigation((state) => state.route);
  const runs = useRuns((state) => state.runs);
  const commands = useMemo(() => commandsFor(route, runs ?? [], texts), [route, runs, texts]);
  useHotkeys(
    commands
      .flatMap(({ keys, run }) => (keys === undefined ? [] : [[keys, run] as const]))
      .map(([keys, run]) => [keys, run]),
  );
  const groups = useMemo(
    () =>
      [...Map.groupBy(commands, ({ group }) => group)].map(([group, members]): SpotlightActionGroupData => ({
        group,
        actions: members.map(({ id, label, hint, keys, run }) => ({
          id,
          label,
          ...(hint === undefined ? {} : { description: hint }),
          ...(keys === undefined ? {} : { rightSection: <Kbd size="xs">{keyNames(keys)}</Kbd> }),
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
      limit={40}
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: t('palette.search'),
        'aria-label': t('palette.search'),
      }}
      onSpotlightClose={keepFocus}
      attributes={{ content: { 'aria-label': t('palette.search') } }}
      classNames={{ actionLabel: classes.label ?? '' }}
    />
  );
}

export const openPalette = () => spotlight.open();

/** Longer than the palette takes to fade. */
const CLOSED_AFTER_MS = 300;

/** What had the focus before may have left with its screen: then the heading of the new one takes it. */
function keepFocus(): void {
  setTimeout(() => {
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, CLOSED_AFTER_MS);
}
