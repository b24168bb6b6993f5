import {
  columnVisibilityFeature,
  metaHelper,
  rowSortingFeature,
  tableFeatures,
  type ColumnDef,
} from '@tanstack/react-table';

export interface TableColumnMeta {
  /** A track of CSS grid, such as `minmax(160px, 2fr)`. */
  readonly width: string;
  readonly align?: 'start' | 'end';
  /** The header is only for screen readers, as over a column of buttons. */
  readonly headerHidden?: boolean;
}

export const virtualTableFeatures = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  columnMeta: metaHelper<TableColumnMeta>(),
});
export type VirtualTableFeatures = typeof virtualTableFeatures;
export type VirtualColumn<Row extends object> = ColumnDef<VirtualTableFeatures, Row>;
