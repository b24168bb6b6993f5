import type { Evidence, Prediction } from '../../../electron/contract/index.ts';
import type { CellLook } from '../../components/table/VirtualTable.tsx';
import { useTexts } from '../../i18n/index.ts';
import classes from './ResultsTab.module.css';

/** A call has a colour and a shape; one that may still change must not look final. */
export const callLook = (call: Prediction, settled = true): CellLook => ({
  className: `${classes.callCell} ${classes[call]} ${settled ? '' : classes.unsettled}`,
});

/** An evidence level has up to three dots. */
export const evidenceLook = (level: Evidence | null): CellLook => ({
  className: level === null ? 'muted' : `${classes.evidenceCell} ${classes[level]}`,
});

/** Shows a call as word, colour and shape. */
export function PredictionLabel({
  prediction,
  settled = true,
}: {
  prediction: Prediction;
  settled?: boolean;
}) {
  const { t } = useTexts();
  return (
    <span {...callLook(prediction, settled)}>
      {t(`prediction.${prediction}`)}
      {!settled && ` · ${t('settled.false')}`}
    </span>
  );
}

/** Shows an evidence level as a word and as up to three dots. */
export function EvidenceLabel({ evidence }: { evidence: Evidence | null }) {
  const { t } = useTexts();
  // Outside a cell the dots begin where the text above them does.
  const look = { ...evidenceLook(evidence), style: { marginLeft: evidence === null ? 0 : -9 } };
  return <span {...look}>{evidence === null ? '–' : t(`evidence.${evidence}`)}</span>;
}
