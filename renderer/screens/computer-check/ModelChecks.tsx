import { Group, Stack, Table } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconClockExclamation } from '@tabler/icons-react';
import { Bar, ReferenceLine } from 'recharts';
import type { Controls, LastControls, ModelTests } from '../../../electron/contract/index.ts';
import { below, countTicks } from '../../components/charts/axes.ts';
import { Plot } from '../../components/charts/Plot.tsx';
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

/** What the verdicts rest on: how many of each group are called virus, and how the scores of both are spread. */
function ControlsFigures({ tests: { controls } }: { tests: ModelTests }) {
  const { t, format } = useTexts();
  const drawn = controls.find(({ panel }) => !panel.quick) ?? controls[0];
  if (!drawn) return null;
  const { auroc, groups } = drawn;
  return (
    <Stack gap={8} my={8}>
      {auroc && (
        <p className={classes.sentence}>
          {t('controls.auroc', {
            value: format.decimal(auroc.value, 3),
            low: format.decimal(auroc.low, 3),
            high: format.decimal(auroc.high, 3),
          })}
        </p>
      )}
      <Groups groups={groups} />
      <Scores controls={drawn} />
    </Stack>
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
function Groups({ groups }: Pick<Controls, 'groups'>) {
  const { t, format } = useTexts();
  return (
    <Table withRowBorders={false} verticalSpacing={2} w="auto">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t('controls.group')}</Table.Th>
          <Table.Th scope="col">{t('common.calledVirus')}</Table.Th>
          <Table.Th scope="col">{t('controls.share')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {groups.map(({ group, scored, called_virus: called, share_called_virus: share }) => (
          <Table.Tr key={group}>
            <Table.Th scope="row" fw={400}>
              {t(`controls.${group}`)}
            </Table.Th>
            <Table.Td>{t('controls.of', { called, scored })}</Table.Td>
            <Table.Td>
              {share &&
                t('controls.interval', {
                  share: format.percent(share.value, 0),
                  low: format.percent(share.low, 0),
                  high: format.percent(share.high, 0),
                })}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const BINS = 10;

function Scores({ controls }: { controls: Controls }) {
  const { t, format } = useTexts();
  const counts = (name: 'viral' | 'host') => {
    const bins = new Array<number>(BINS).fill(0);
    for (const score of groupOf(controls, name)?.scores ?? []) {
      if (score === null) continue;
      const bin = Math.min(BINS - 1, Math.floor(score * BINS));
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    return bins;
  };
  const host = counts('host');
  const bins = counts('viral').map((viral, bin) => ({ from: bin / BINS, viral, host: host[bin] ?? 0 }));
  const range = (from: number) => `${format.decimal(from, 1)} – ${format.decimal(from + 1 / BINS, 1)}`;
  const lines = [
    { key: 'viral', label: t('controls.viral'), color: 'var(--virus)' },
    { key: 'host', label: t('controls.host'), color: 'var(--others)' },
  ] as const;
  return (
    <Plot
      kind="bar"
      title={t('controls.scores')}
      summary={t('controls.scoresSummary')}
      height={120}
      legend={lines}
      data={bins}
      margin={{ top: 4, right: 8, bottom: 14, left: 0 }}
      table={() => ({
        columns: [t('controls.score'), ...lines.map(({ label }) => label)],
        rows: bins.map((bin) => [range(bin.from), String(bin.viral), String(bin.host)]),
      })}
      x={{
        dataKey: 'from',
        tickFormatter: (from: number) => format.decimal(from, 1),
        label: below(t('controls.score')),
      }}
      y={{
        ...countTicks(Math.max(1, ...bins.flatMap(({ viral, host }) => [viral, host])), format),
        width: 30,
        axisLine: false,
      }}
      tip={(bin) => ({
        title: range(bin.from),
        lines: lines.map(({ key, label }) => `${label}: ${bin[key]}`),
      })}
    >
      <ReferenceLine x={0.5} stroke="var(--text-muted)" strokeDasharray="4 3" />
      {lines.map(({ key, color }) => (
        <Bar key={key} dataKey={key} fill={color} isAnimationActive={false} />
      ))}
    </Plot>
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
          {Object.entries(found.precisions).map(([precision, { against, scores, verdict }]) => (
            <li key={precision}>
              <b>{`${found.deviceName}, ${precision.toUpperCase()}`}</b>{' '}
              {t(verdict.offered ? 'precision.passes' : 'precision.fails', {
                against: against.toUpperCase(),
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
          <ControlsFigures tests={tests} />
          <Precisions title={title} tests={tests} />
        </Fold>
      </Stack>
    </Line>
  );
}
