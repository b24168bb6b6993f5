import type { ReactNode } from 'react';
import classes from './Facts.module.css';

export interface FactItem {
  readonly label: string;
  readonly value: ReactNode;
  readonly hint?: string | undefined;
}

/** Labelled figures in a row; the figure is what the eye meets first. */
export function Facts({ items, size = 'normal' }: { items: readonly FactItem[]; size?: 'normal' | 'small' }) {
  return (
    <dl className={`${classes.facts} ${size === 'small' ? classes.small : ''}`}>
      {items.map((item) => (
        <div key={item.label} className={classes.fact} title={item.hint}>
          <dt className={classes.label}>{item.label}</dt>
          <dd className={classes.value}>{item.value}</dd>
        </div>
      ))}
    </dl>
  );
}
