import { Button, Text } from '@mantine/core';
import type { RunComparison } from '../../../electron/contract/index.ts';
import { Figures } from '../../components/table/Figures.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';

/** How far the calls of two runs agree: in all, by sample and by file. */
export function AgreementTable({ agreement }: Pick<RunComparison, 'agreement'>) {
  const { t, format } = useTexts();
  const copy = useCopy();
  const head = [
    ...[t('common.sample'), t('common.file'), t('compare.called'), t('compare.sameCall')],
    ...[t('compare.share'), t('compare.kappa')],
  ];
  // A single file says what all do.
  const rows = agreement
    .slice(0, agreement.length === 2 ? 1 : undefined)
    .map(({ sample, file, called, sameCall, kappa }) => [
      sample ?? t('export.scope.all'),
      file ?? t('export.scope.all'),
      format.integer(called),
      format.integer(sameCall),
      called === 0 ? '–' : format.percent(sameCall / called, 1),
      kappa === null ? '–' : format.decimal(kappa, 3),
    ]);
  return (
    <section>
      <Figures title={t('compare.agreement')} head={head} rows={rows} height={360} />
      <Text fz="sm" c="dimmed">
        {t('compare.agreementText')}
      </Text>
      <Button
        variant="default"
        size="compact-sm"
        mt={8}
        onClick={() => copy.mutate([head, ...rows].map((row) => `${row.join('\t')}\n`).join(''))}
      >
        {t('chart.copyData')}
      </Button>
    </section>
  );
}
