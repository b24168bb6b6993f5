import { memo } from 'react';
import type { VirtualColumn } from './virtualColumns.ts';
import classes from './VirtualTable.module.css';

interface VirtualRowProps<Row extends object> {
  id: string;
  index: number;
  top: number;
  template: string;
  columns: readonly VirtualColumn<Row>[];
  /** Undefined while the row has not arrived: its cells are empty. */
  row: Row | undefined;
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
      className={row ? classes.row : `${classes.row} ${classes.placeholder}`}
      data-active={props.active}
      data-open={props.open}
      data-clickable={onOpen !== undefined}
      style={{ transform: `translateY(${props.top}px)`, gridTemplateColumns: props.template }}
      onClick={() => {
        props.onActivate(index);
        if (row) onOpen?.(row, index);
      }}
    >
      {props.columns.map((column) => {
        const { align = 'start' } = column;
        const look = row && column.look?.(row);
        const className = `${classes.cell} ${classes[align]}`;
        return (
          <div
            key={column.id}
            role="gridcell"
            className={look?.className ? `${className} ${look.className}` : className}
            title={look?.title}
            style={look?.style}
          >
            {row && column.cell(row)}
          </div>
        );
      })}
    </div>
  );
}

/** Most rows in sight stay what they are when the table is scrolled. */
export const VirtualRow = memo(VirtualRowView) as typeof VirtualRowView;
