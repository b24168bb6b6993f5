import { IconArrowDown, IconArrowUp, IconArrowsSort } from '@tabler/icons-react';
import type { TableSort } from './virtualColumns.ts';
import classes from './VirtualTable.module.css';

interface VirtualHeaderCellProps {
  column: {
    id: string;
    title: string;
    align?: 'start' | 'end';
    titleHidden?: boolean;
    firstSort?: 'asc' | 'desc';
  };
  sort: TableSort | undefined;
  onSort: ((sort: TableSort) => void) | undefined;
}

export function VirtualHeaderCell({ column, sort, onSort }: VirtualHeaderCellProps) {
  const { id, title, align = 'start', titleHidden, firstSort } = column;
  const isSorted = sort?.id === id;
  const ariaSort = isSorted ? (sort.desc ? 'descending' : 'ascending') : undefined;
  const SortIcon = isSorted ? (sort.desc ? IconArrowDown : IconArrowUp) : IconArrowsSort;
  return (
    <div className={`${classes.headCell} ${classes[align]}`} role="columnheader" aria-sort={ariaSort}>
      {onSort && firstSort ? (
        <button
          type="button"
          className={classes.sort}
          data-sorted={isSorted}
          onClick={() => onSort({ id, desc: isSorted ? !sort.desc : firstSort === 'desc' })}
        >
          {title}
          <SortIcon size={14} aria-hidden />
        </button>
      ) : (
        <span className={titleHidden ? 'visually-hidden' : undefined}>{title}</span>
      )}
    </div>
  );
}
