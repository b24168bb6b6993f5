import type { CSSProperties, ReactNode } from 'react';

/** What a table is sorted by. */
export interface TableSort {
  /** Of the column. */
  readonly id: string;
  readonly desc: boolean;
}

/** Of the cell itself: every element within it costs each row that is scrolled into sight. */
export interface CellLook {
  readonly className?: string | undefined;
  /** A tip. */
  readonly title?: string | undefined;
  readonly style?: CSSProperties;
}

export interface VirtualColumn<Row extends object> {
  readonly id: string;
  readonly title: string;
  /** The title is only for screen readers, as over a column of buttons. */
  readonly titleHidden?: boolean;
  /** A track of CSS grid that does not depend on what stands in it, such as `minmax(160px, 2fr)`. */
  readonly width: string;
  readonly align?: 'start' | 'end';
  /** How the first click sorts; without, the column cannot be sorted by. */
  readonly firstSort?: 'asc' | 'desc';
  /** No component: it must not use hooks. */
  readonly cell: (row: Row) => ReactNode;
  readonly look?: (row: Row) => CellLook;
}
