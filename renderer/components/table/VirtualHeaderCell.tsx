import { IconArrowDown, IconArrowUp, IconArrowsSort } from '@tabler/icons-react';
import classes from './VirtualTable.module.css';

interface VirtualHeaderCellProps {
  title: string;
  align: 'start' | 'end';
  hidden: boolean;
  sorted: false | 'asc' | 'desc';
  onToggle: (() => void) | undefined;
}

export function VirtualHeaderCell({ title, align, hidden, sorted, onToggle }: VirtualHeaderCellProps) {
  const ariaSort = sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : undefined;
  const SortIcon = sorted === 'asc' ? IconArrowUp : sorted === 'desc' ? IconArrowDown : IconArrowsSort;
  return (
    <div className={`${classes.headCell} ${classes[align]}`} role="columnheader" aria-sort={ariaSort}>
      {onToggle ? (
        <button type="button" className={classes.sort} data-sorted={sorted !== false} onClick={onToggle}>
          {title}
          <SortIcon size={14} aria-hidden />
        </button>
      ) : (
        <span className={hidden ? 'visually-hidden' : undefined}>{title}</span>
      )}
    </div>
  );
}
