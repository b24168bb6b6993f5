import type { ReactNode } from 'react';
import { Hint } from './Hint.tsx';
import classes from './Facts.module.css';

export interface FactItem {
  readonly label: string;
  readonly value: ReactNode;
  readonly hint?: ReactNode;
}

/** A row of labelled figures. The figure stands out more than its label. */
export function Facts({ items, size = 'normal' }: { items: readonly FactItem[]; size?: 'normal' | 'small' }) {
  return (
    <dl className={`${classes.facts} ${size === 'small' ? classes.small : ''}`}>
      {items.map((item) => (
        <div key={item.label} className={classes.fact}>
          <dt className={classes.label}>
            {item.hint === undefined ? (
              item.label
            ) : (
              <Hint label={item.hint}>
                <button type="button" className={classes.hinted}>
                  {item.label}
                </button>
              </Hint>
            )}
          </dt>
          <dd className={classes.value}>{item.value}</dd>
        </div>
      ))}
    </dl>
  );
}
