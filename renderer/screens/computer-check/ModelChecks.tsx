import { Group, Stack, Table } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconClockExclamation } from '@tabler/icons-react';
import type { Controls, LastControls, ModelTests } from '../../../electron/contract/index.ts';
import { Badge } from '../../components/feedback/StateBadge.tsx';
import { Hint } from '../../components/Hint.tsx';
import { CheckPart } from '../../components/CheckPart.tsx';
import { useTexts } from '../../i18n/index.ts';
import { Fold } from '../../components/Fold.tsx';
import { Line } from './CheckLine.tsx';
import classes from './ComputerCheck.module.css';

/** The model's results on sequences with known answers, on each kind of device, and the button that repeats the test. */
export function ControlsPart({
  title,
  tests,
  named = false,
}: {
  title: string;
  tests: ModelTests;
  /** Set if no heading above names the model. */
  named?: boolean;
}) {
  const { t, format } = useTexts();
  const { controls, controlsSeconds } = tests;
  const [newest] = controls;
  const outdated = newest?.outdated ?? null;
  const takes =
    controlsSeconds === null
      ? t('controls.start')
      : t('controls.startTime', { time: format.duration(Math.max(1, controlsSeconds)) });
  return (
    <CheckPart
      request={{ check: 'controls', model: tests.model }}
      title={title}
      when={outdated === null ? null : t(`controls.outdated.${outdated}`)}
      isDue={!newest || outdated !== null}
      start={t('controls.check')}
      hint={newest ? takes : `${takes} ${t('controls.never')}`}
    >
      {named && <b>{title}</b>}
      {controls.map((one) => (
        <Verdict key={`${one.kind} ${one.precision} ${one.panel.quick}`} controls={one} />
      ))}
    </CheckPart>
  );
}

const groupOf = ({ groups }: Controls, name: Controls['groups'][number]['group']) =>
  groups.find(({ group }) => group === name);

function Verdict({ controls }: { controls: LastControls }) {
  const { t, format } = useTexts();
  const { verdict, checkedAt, deviceName, precision, panel, outdated, original } = controls;
  const works = verdict === 'works';
  const viral = groupOf(controls, 'viral');
  const host = groupOf(controls, 'host');
  return (
    <div>
      <Group gap="4px 10px">
        <Hint label={t('controls.cannotSay')}>
          <span tabIndex={0}>
            <Badge tone={works ? 'good' : 'bad'} icon={works ? IconCircleCheck : IconAlertTriangle}>
              {t(works ? 'controls.works' : 'controls.fails')}
            </Badge>
          </span>
        </Hint>
        <span className="muted">
          {[
            format.dateTime(checkedAt),
            `${deviceName}, ${precision.toUpperCase()}`,
            ...(panel.quick ? [t('controls.quick')] : []),
          ].join(' · ')}
        </span>
        {outdated !== null && (
          <Badge tone="warn" icon={IconClockExclamation}>
            {t('controls.isOutdated')}
          </Badge>
        )}
      </Group>
      <p className={classes.sentence}>
        {!works && `${t(`controls.verdict.${verdict}`)} `}
        {viral &&
          host &&
          t('controls.called', {
            viral: viral.called_virus,
            virals: viral.scored,
            host: host.called_virus,
            hosts: host.scored,
          })}{' '}
        {original &&
          t(original.problem === null ? 'controls.original' : 'controls.notOriginal', {
            norm: format.percent(original.norm, 2),
            hasScores: original.score === null ? 'no' : 'yes',
            score: format.percent(original.score ?? 0, 2),
          })}
      </p>
    </div>
  );
}

/** How many sequences of each group are called virus, including groups that no verdict depends on. */
function Groups({ tests: { controls } }: { tests: ModelTests }) {
  const { t } = useTexts();
  const shown = controls.find(({ panel }) => !panel.quick) ?? controls[0];
  if (!shown) return null;
  return (
    <Table withRowBorders={false} verticalSpacing={2} w="auto">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t('controls.group')}</Table.Th>
          <Table.Th scope="col">{t('common.calledVirus')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {shown.groups.map(({ group, scored, called_virus: called }) => (
          <Table.Tr key={group}>
            <Table.Th scope="row" fw={400}>
              {t(`controls.${group}`)}
            </Table.Th>
            <Table.Td>{t('controls.of', { called, scored })}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** What each number format costs in exactness, on the device that was measured last. */
function Precisions({ title, tests }: { title: string; tests: ModelTests }) {
  const { t, format } = useTexts();
  const { model, precisions: found } = tests;
  return (
    <CheckPart
      request={{ check: 'precision', model }}
      title={title}
      when={found ? t('answers.checkedAt', { time: format.dateTime(found.checkedAt) }) : t('controls.never')}
      isDue={false}
      start={t('precision.check')}
      hint={t('precision.hint')}
    >
      {found && (
        <ul className="plain-list">
          {Object.entries(found.precisions).map(([precision, { scores, verdict }]) => (
            <li key={precision}>
              <b>{`${found.deviceName}, ${precision.toUpperCase()}`}</b>{' '}
              {t(verdict.offered ? 'precision.passes' : 'precision.fails', {
                share: format.percent(scores.flip_share, 2),
              })}
            </li>
          ))}
        </ul>
      )}
    </CheckPart>
  );
}

/** All that can be checked of an installed model. */
export function ModelLine({ title, tests }: { title: string; tests: ModelTests }) {
  const { t } = useTexts();
  const [newest] = tests.controls;
  const status = !newest || newest.outdated ? 'waiting' : newest.verdict === 'works' ? 'good' : 'bad';
  return (
    <Line status={status} title={title}>
      <Stack gap={8} className={classes.sentence ?? ''}>
        <ControlsPart title={title} tests={tests} />
        <Fold title={t('controls.details')}>
          <Groups tests={tests} />
          <Precisions title={title} tests={tests} />
        </Fold>
      </Stack>
    </Line>
  );
}
