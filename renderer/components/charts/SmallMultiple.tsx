import classes from './SmallMultiple.module.css';
import { smallMultiplePath, type MeasuredPoint } from './smallMultiplePath.ts';

interface SmallMultipleProps {
  label: string;
  /** The figure that the curve comes to; what is read out in its place. */
  text: string;
  points: readonly MeasuredPoint[];
  /** Seconds since the epoch, and the top of the scale: shared by all curves that stand beside each other. */
  begin: number;
  end: number;
  top: number;
}

/** A small curve among others of the same scale. */
export function SmallMultiple({ label, text, points, begin, end, top }: SmallMultipleProps) {
  return (
    <div>
      <div className={classes.text}>
        <span>{label}</span>
        <b>{text}</b>
      </div>
      <svg viewBox="0 0 160 36" width="100%" height="36" preserveAspectRatio="none" aria-hidden>
        <line x1="0" x2="160" y1="35.5" y2="35.5" stroke="var(--line)" vectorEffect="non-scaling-stroke" />
        <path
          d={smallMultiplePath(points, { begin, end, top, width: 160, height: 35 })}
          fill="none"
          stroke="var(--accent)"
          strokeWidth="1.5"
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
    </div>
  );
}
