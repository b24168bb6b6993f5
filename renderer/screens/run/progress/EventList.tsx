import { useQuery } from '@tanstack/react-query';
import { Box, Button, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleX, IconInfoCircle } from '@tabler/icons-react';
import type { RunEvent } from '../../../../electron/contract/index.ts';
import { Section } from '../../../components/Card.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { useEngineTexts } from '../../../state/engineTexts.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { openRunDialog } from '../../../state/runs/runDialog.ts';
import classes from './EventList.module.css';

const ICONS = { info: IconInfoCircle, warning: IconAlertTriangle, error: IconCircleX };
const NO_EVENTS: readonly RunEvent[] = [];
const TONES = { info: 'neutral', warning: 'warn', error: 'bad' } as const;

/** The log of the run contains all of them. */
const MOST_EVENTS = 100;

const PAUSING = /^phase\.(pausing|draining)$/;

/** Newest first. A pause counts as one event, and what starts after it is marked as going on. */
export function eventsShown(events: readonly RunEvent[]): { event: RunEvent; goesOn: boolean }[] {
  const keyOf = (event: RunEvent | undefined) => event?.wording?.key ?? '';
  const begun = events.some((event) => keyOf(event) === 'phase.created')
    ? events.findLast((event) => keyOf(event) === 'phase.running')
    : undefined;
  return events
    .filter((event, index) => !(PAUSING.test(keyOf(event)) && keyOf(events[index - 1]) === 'phase.paused'))
    .map((event) => ({ event, goesOn: keyOf(event) === 'phase.running' && event !== begun }));
}

/** The latest events, newest first. */
export function EventList({ runId }: { runId: string }) {
  const { t, format } = useTexts();
  const say = useEngineTexts();
  const recent = useLiveRun((state) => state.live?.recentEvents ?? NO_EVENTS);
  // Snapshots bring only the newest events; earlier ones are queried when the page is opened.
  const before = useQuery(
    queries.runs.events.queryOptions({ input: { runId, limit: MOST_EVENTS }, refetchOnMount: 'always' }),
  );
  const known = [...(before.data ?? NO_EVENTS), ...recent];
  const all = [...new Map(known.map((event) => [event.id, event])).values()].sort((a, b) => b.id - a.id);
  const shown = eventsShown(all);
  return (
    <Section
      title={t('events.title')}
      aside={
        <Button size="compact-sm" variant="default" onClick={() => openRunDialog(runId, 'log')}>
          {t('files.showLog')}
        </Button>
      }
    >
      {shown.length === 0 ? (
        <p className="muted">{t('events.empty')}</p>
      ) : (
        <ol className={`plain-list ${classes.list}`} tabIndex={0} aria-label={t('events.title')}>
          {shown.map(({ event, goesOn }) => {
            const Icon = ICONS[event.level];
            return (
              <li key={event.id} className={classes.event} data-tone={TONES[event.level]}>
                <Icon size={16} aria-hidden />
                <Box component="span" style={{ overflowWrap: 'anywhere' }}>
                  {event.level !== 'info' && (
                    <span className="visually-hidden">{t(`events.${event.level}`)}: </span>
                  )}
                  {goesOn ? t('events.goesOn') : say({ text: event.message, wording: event.wording })}
                </Box>
                <Text
                  component="time"
                  pr={4}
                  fz="inherit"
                  c="dimmed"
                  style={{ whiteSpace: 'nowrap' }}
                  dateTime={event.time}
                >
                  {format.time(event.time)}
                </Text>
              </li>
            );
          })}
        </ol>
      )}
    </Section>
  );
}
