import { memo } from 'react';
import classes from './ProgressBar.module.css';

interface ProgressBarProps {
  label: string;
  /** From 0 to 1; null while it is unknown. */
  fraction: number | null;
  size?: 'thin' | 'normal' | 'large';
  tone?: 'active' | 'good' | 'warn' | 'neutral';
  /** What screen readers read instead of the bare percentage. */
  valueText?: string;
}

/** A plain bar, not Mantine's, since the dashboard draws dozens of them four times a second. */
export const ProgressBar = memo(function ProgressBar({
  label,
  fraction,
  size = 'normal',
  tone = 'active',
  valueText,
}: ProgressBarProps) {
  const percent = fraction === null ? null : Math.round(fraction * 1000) / 10;
  return (
    <div
      className={`${classes.track} ${classes[size]}`}
      data-tone={tone}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent ?? undefined}
      aria-valuetext={valueText}
    >
      <div
        className={percent === null ? classes.unknown : classes.bar}
        style={percent === null ? undefined : { transform: `scaleX(${percent / 100})` }}
      />
    </div>
  );
});
