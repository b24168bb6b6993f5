import type { Prediction } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import classes from './ResultsTab.module.css';

/** A call as word, colour and shape. */
export function PredictionLabel({ prediction }: { prediction: Prediction }) {
  const { t } = useTexts();
  return (
    <span className={`${classes.prediction} ${classes[prediction]}`}>{t(`prediction.${prediction}`)}</span>
  );
}
