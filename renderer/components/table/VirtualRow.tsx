import { FlexRender, type Row as TableRow } from '@tanstack/react-table';
import { memo } from 'react';
import type { VirtualColumn, VirtualTableFeatures } from './virtualColumns.ts';
import classes from './VirtualTable.module.css';

interface VirtualRowProps<Row extends object> {
  id: string;
  index: number;
  top: number;
  template: string;
  columns: VirtualColumn<Row>[];
  /** Undefined while the row has not arrived: placeholders are shown. */
  row: TableRow<VirtualTableFeatures, Row> | undefined;
  columnIds: readonly string[];
  active: boolean;
  open: boolean;
  onOpen: ((row: Row, index: number) => void) | undefined;
  onActivate: (index: number) => void;
}

function VirtualRowView<Row extends object>(props: VirtualRowProps<Row>) {
  const { row, index, onOpen } = props;
  return (
    <div
      id={props.id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={props.open}
      className={classes.row}
      data-active={props.active}
      data-open={props.open}
      data-clickable={onOpen !== undefined}
      style={{ transform: `translateY(${props.top}px)`, gridTemplateColumns: props.template }}
      onClick={() => {
        props.onActivate(index);
        if (row) onOpen?.(row.original, index);
      }}
    >
      {row
        ? row.getVisibleCells().map((cell) => (
            <div
              key={cell.column.id}
              role="gridcell"
              className={`${classes.cell} ${classes[cell.column.columnDef.meta?.align ?? 'start']}`}
            >
              <FlexRender cell={cell} />
            </div>
          ))
        : props.columnIds.map((id) => (
            <div key={id} role="gridcell" className={classes.cell}>
              <span className={classes.placeholder} />
            </div>
          ))}
    </div>
  );
}

/** The table makes new row objects whenever the window moves; their content decides whether a row has to be drawn. */
export const VirtualRow = memo(
  VirtualRowView,
  (before, after) =>
    before.row?.original === after.row?.original &&
    before.columns === after.columns &&
    before.index === after.index &&
    before.top === after.top &&
    before.template === after.template &&
    before.active === after.active &&
    before.open === after.open &&
    before.onOpen === after.onOpen,
) as typeof VirtualRowView;
