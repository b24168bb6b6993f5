import { Button } from '@mantine/core';
import type { RunProgress } from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { go } from '../../../state/navigation.ts';

type EncoderNorms = NonNullable<RunProgress['unusualNorms']>['esm2'];

/** Embeddings of unusual size do not stop a run, but may be the only sign of a device that computes wrongly. */
export function NormsBanner() {
  const { t, format } = useTexts();
  const norms = useLiveRun((state) => state.live?.progress.unusualNorms ?? null);
  if (norms === null) return null;
  const { frames, ofFrames, esm2, dnabertS } = norms;
  const range = (low: number, high: number) => `${format.decimal(low)}–${format.decimal(high)}`;
  const found = ({ low, high }: EncoderNorms) => range(low, high);
  const expected = ({ expectedLow, expectedHigh }: EncoderNorms) => range(expectedLow, expectedHigh);
  return (
    <Banner
      tone="warn"
      title={t('run.normsTitle', { frames })}
      actions={
        <Button size="compact-md" variant="default" onClick={() => go({ screen: 'computer' })}>
          {t('run.normsCheck')}
        </Button>
      }
    >
      {t('run.normsText', {
        share: format.percent(ofFrames === 0 ? 0 : frames / ofFrames, 2),
        esm2: found(esm2),
        esm2Expected: expected(esm2),
        dnabertS: found(dnabertS),
        dnabertSExpected: expected(dnabertS),
      })}
    </Banner>
  );
}
