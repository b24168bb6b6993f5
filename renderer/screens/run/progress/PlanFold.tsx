import { Box } from '@mantine/core';
import { useShallow } from 'zustand/react/shallow';
import {
  chunkLengthsText,
  VERDICTS,
  wordsOfCalled,
  type RunSummary,
} from '../../../../electron/contract/index.ts';
import { Facts } from '../../../components/Facts.tsx';
import { Fold } from '../../../components/Fold.tsx';
import { Hint } from '../../../components/Hint.tsx';
import { partNumber } from '../../../i18n/names.ts';
import { modelTitle } from '../../../state/computer/modelTexts.ts';
import { useTexts } from '../../../i18n/index.ts';
import { useEngineTexts } from '../../../state/engineTexts.ts';
import { hashOfRoute } from '../../../state/navigation.ts';
import { deviceTitle } from '../../../state/runs/deviceLabels.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';

/** The settings that decide the results of this run, fixed at its start. Details that only few users need are folded away. */
export function PlanFold({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t, format } = texts;
  const { plan } = run;
  return (
    <div>
      <Fold title={t('plan.title')}>
        <Facts
          size="small"
          items={[
            { label: t('newRun.model'), value: modelTitle(plan.model, texts) },
            ...(run.controls ? [{ label: t('plan.controls'), value: <LastControls run={run} /> }] : []),
            { label: t('plan.chunkLength'), value: `${chunkLengthsText(plan)} bp` },
            { label: t('common.created'), value: format.dateTime(run.createdAt) },
            ...(plan.repairs
              ? [
                  {
                    label: t('plan.repairs'),
                    value: plan.repairs.map((repair) => t(`repair.${repair}`)).join(', '),
                  },
                ]
              : []),
            ...(plan.minLength === undefined
              ? []
              : [{ label: t('advanced.minLength'), value: format.bases(plan.minLength) }]),
            ...(plan.geneticCode === undefined
              ? []
              : [{ label: t('advanced.geneticCode'), value: t(`geneticCode.${plan.geneticCode}`) }]),
            ...(plan.imported
              ? [
                  {
                    label: t('plan.imported'),
                    value: t('plan.importedValue', {
                      esm2: plan.imported.framesEsm2,
                      dnabertS: plan.imported.framesDnabertS,
                      frames: plan.imported.frames,
                      folder: plan.imported.folder,
                    }),
                  },
                ]
              : []),
          ]}
        />
        <PlanFacts run={run} />
        <DeviceTable />
      </Fold>
    </div>
  );
}

/** What was known about the model when the run began, or a way to find it out. */
function LastControls({ run }: { run: RunSummary }) {
  const { t, language, format } = useTexts();
  const say = useEngineTexts();
  if (run.controls?.length === 0)
    return (
      <>
        {t('controls.neverHere')}{' '}
        <a href={hashOfRoute({ screen: 'computer' })}>{t('checks.start.controls')}</a>
      </>
    );
  return run.controls?.map(({ kind, deviceName, checkedAt, verdict, viral, host }) => (
    <div key={kind}>
      {`${VERDICTS[verdict][language]}: ${say(wordsOfCalled({ viral, host }))} ${deviceName}, ${format.dateTime(checkedAt)}`}
    </div>
  ));
}

function PlanFacts({ run: { plan } }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const norms = useLiveRun((state) => state.live?.progress.unusualNorms ?? null);
  return (
    <Facts
      size="small"
      items={[
        { label: t('advanced.precision'), value: t(`precision.${plan.precision}`) },
        { label: t('advanced.tokensPerBatch'), value: format.integer(plan.tokensPerBatch) },
        ...(norms === null
          ? []
          : [
              {
                label: t('plan.unusualNorms'),
                value: t('common.of', {
                  part: format.integer(norms.frames),
                  whole: format.integer(norms.ofFrames),
                }),
              },
            ]),
        { label: t('advanced.order'), value: t(`order.${plan.order}`) },
        { label: t('advanced.partSize'), value: format.integer(plan.residuesPerPart) },
        {
          label: t('plan.equalSequences'),
          value: t(plan.embedEqualSequencesOnce ? 'plan.equalOnce' : 'plan.equalEach'),
        },
        { label: t('advanced.embeddings'), value: t(`embeddings.${plan.embeddings ?? 'none'}`) },
      ]}
    />
  );
}

const FIGURES = ['batchFillPercent', 'fragmentedPercent', 'memoryGrowthPercent'] as const;

/** The work of each device in the program's own terms. */
function DeviceTable() {
  const { t, format } = useTexts();
  const ids = useLiveRun(useShallow((state) => state.live?.devices.map(({ id }) => id) ?? []));
  const devices = useLiveRun((state) => state.live?.devices);
  if (ids.length === 0 || !devices) return null;
  return (
    <Box mt={14} style={{ overflowX: 'auto' }} tabIndex={0} role="region" aria-label={t('plan.title')}>
      <table className="facts-table">
        <thead>
          <tr>
            <th scope="col">{t('files.column.device')}</th>
            <th scope="col">{t('device.partInWork')}</th>
            <th scope="col">{t('device.framesPerSecond')}</th>
            <th scope="col">{t('advanced.tokensPerBatch')}</th>
            <th scope="col">{t('device.layers')}</th>
            {FIGURES.map((figure) => (
              <Hint key={figure} label={t(`device.hint.${figure}`)}>
                <th scope="col">{t(`device.${figure}`)}</th>
              </Hint>
            ))}
          </tr>
        </thead>
        <tbody>
          {devices.map((device) => (
            <tr key={device.id}>
              <th scope="row" title={device.id}>
                {deviceTitle(device, t)}
              </th>
              <td>{device.worker.state === 'working' ? partNumber(device.worker.part) : '–'}</td>
              <td>{device.framesPerSecond === null ? '–' : format.rate(device.framesPerSecond)}</td>
              <td>{device.tokensPerBatch === null ? '–' : format.integer(device.tokensPerBatch)}</td>
              <td>{device.placement === null ? '–' : t(`device.placement.${device.placement}`)}</td>
              {FIGURES.map((figure) => (
                <td key={figure}>
                  {device[figure] === null ? '–' : format.percent(device[figure] / 100, 1)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Box>
  );
}
