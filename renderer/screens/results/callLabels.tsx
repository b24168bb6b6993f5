import { type Evidence, evidenceSchema, type Prediction } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import classes from './ResultsTab.module.css';
import { Group } from '@mantine/core';

/** Shows a call as word, colour and shape. */
export function PredictionLabel({
  prediction,
  settled = true,
}: {
  prediction: Prediction;
  settled?: boolean;
}) {
  const { t } = useTexts();
  const look = `${classes.prediction} ${classes[prediction]} ${settled ? '' : classes.unsettled}`;
  return (
    <span className={look}>
      {t(`prediction.${prediction}`)}
      {!settled && ` · ${t('settled.false')}`}
    </span>
  );
}

/** Shows an evidence level as a word and as up to three dots. */
export function EvidenceLabel({ evidence }: { evidence: Evidence | null }) {
  const { t } = useTexts();
  if (evidence === null) return <span className="muted">–</span>;
  const rank = evidenceSchema.options.indexOf(evidence);
  return (
    <Group component="span" gap={6} display="inline-flex" wrap="nowrap">
      <span className={classes.dots} aria-hidden>
        {evidenceSchema.exclude(['undecided']).options.map((level, index) => (
          <i key={level} data-on={index < rank} />
        ))}
      </span>
      {t(`evidence.${evidence}`)}
    </Group>
  );
}
