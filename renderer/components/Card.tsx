import { useId, type ReactNode } from 'react';
import classes from './Card.module.css';

interface CardProps {
  title?: ReactNode;
  /** Right of the title: a figure, a button. */
  aside?: ReactNode;
  tone?: 'plain' | 'bad';
  className?: string;
  children: ReactNode;
}

/** A titled region of a screen. */
export function Card({ title, aside, tone = 'plain', className = '', children }: CardProps) {
  const id = useId();
  return (
    <section
      className={`${classes.card} ${tone === 'bad' ? classes.bad : ''} ${className}`}
      aria-labelledby={title ? id : undefined}
    >
      {(title || aside) && (
        <div className={classes.head}>
          {title && (
            <h2 className={classes.title} id={id}>
              {title}
            </h2>
          )}
          {aside && <div className={classes.aside}>{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}
