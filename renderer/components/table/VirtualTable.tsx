import { useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { IconArrowDown, IconArrowUp, IconArrowsSort } from '@tabler/icons-react';
import { Guarded } from '../feedback/Guarded.tsx';
import { Hint } from '../Hint.tsx';
import classes from './VirtualTable.module.css';
import { useTexts } from '../../i18n/index.ts';

export const ROW_HEIGHT = 38;
/** For tables that are only read, whose rows have no buttons. */
export const DENSE_ROW_HEIGHT = 30;
/** Every browser supports elements of this height. Rows beyond it are reached by filtering. */
const MOST_PIXELS = 15_000_000;

/** Rows rendered above and below those in sight. */
const OVERSCAN = 4;

const NO_HIDDEN: Readonly<Record<string, boolean>> = {};

export interface TableSort {
  /** The id of the column. */
  readonly id: string;
  readonly desc: boolean;
}

/** Applied to the cell itself: every element inside it costs time for each row that is scrolled into sight. */
export interface CellLook {
  readonly className?: string | undefined;
  /** Shown as a tooltip. */
  readonly title?: string | undefined;
  readonly style?: CSSProperties;
}

export interface VirtualColumn<Row extends object> {
  readonly id: string;
  readonly title: string;
  /** Shows the title to screen readers only, for example over a column of buttons. */
  readonly titleHidden?: boolean;
  /** A CSS grid track that does not depend on its content, such as `minmax(160px, 2fr)`. */
  readonly width: string;
  readonly align?: 'start' | 'end';
  /** Explains the column; shown at its head. */
  readonly hint?: ReactNode;
  /** The direction of the first click. A column without it cannot be sorted. */
  readonly firstSort?: 'asc' | 'desc';
  /** Called as a plain function with the row and its index, so it must not use hooks. */
  readonly cell: (row: Row, index: number) => ReactNode;
  readonly look?: (row: Row) => CellLook;
}

interface VirtualTableProps<Row extends object> {
  label: string;
  columns: readonly VirtualColumn<Row>[];
  hiddenColumns?: Readonly<Record<string, boolean>>;
  total: number;
  /** The row at an index of the sorted, filtered list; undefined until it has arrived. Has to be the same
   * function until a row changes. */
  rowAt: (index: number) => Row | undefined;
  sort?: TableSort;
  onSort?: (sort: TableSort) => void;
  onRangeChange?: (first: number, last: number) => void;
  onOpen?: (row: Row, index: number) => void;
  /** Called when a key has moved the active row to this one. */
  onMove?: ((row: Row, index: number) => void) | undefined;
  /** Called for any other key without a modifier, pressed on the active row. */
  onKey?: (key: string, row: Row) => void;
  isOpen?: (row: Row) => boolean;
  empty: ReactNode;
  height: number | string;
  rowHeight?: number;
}

/**
 * Renders only the rows in sight, and no more than a browser can scroll through. Arrow keys move, Enter opens. A cell
 * with state of its own needs a key that names its row, since its element is reused for other rows.
 */
export function VirtualTable<Row extends object>(props: VirtualTableProps<Row>) {
  return (
    <Guarded>
      <Table {...props} />
    </Guarded>
  );
}

function Table<Row extends object>(props: VirtualTableProps<Row>) {
  const { t, format } = useTexts();
  const { columns, rowAt, onRangeChange, onOpen, rowHeight = ROW_HEIGHT } = props;
  const total = Math.min(props.total, Math.floor(MOST_PIXELS / rowHeight));
  const gridId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);

  const slots = (): number => Math.ceil((virtualizer.scrollRect?.height ?? 0) / rowHeight) + 2 * OVERSCAN + 1;
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    // The number is the same at every scroll position, so that scrolling neither creates nor discards rows.
    rangeExtractor: ({ startIndex, count }) => {
      const length = Math.min(slots(), count);
      const begin = Math.max(0, Math.min(startIndex - OVERSCAN, count - length));
      return Array.from({ length }, (_, place) => begin + place);
    },
  });
  const items = virtualizer.getVirtualItems();
  const slotCount = slots();
  // A row that leaves at one end is refilled and enters at the other: creating rows costs far more than filling them.
  // Their order in the document is therefore that of the slots; `aria-owns` gives the reading order.
  const bySlot = items.toSorted((a, b) => (a.index % slotCount) - (b.index % slotCount));
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= first) onRangeChange?.(first, last);
  }, [first, last, onRangeChange]);

  const { hiddenColumns = NO_HIDDEN } = props;
  const shownColumns = useMemo(
    () => columns.filter(({ id }) => hiddenColumns[id] !== false),
    [columns, hiddenColumns],
  );
  const template = shownColumns.map(({ width }) => width).join(' ');

  const move = (index: number) => {
    const target = Math.max(0, Math.min(total - 1, index));
    setActive(target);
    if (!scroller.current) return;
    // The sticky head covers the height of one row.
    const room = scroller.current.clientHeight - rowHeight;
    const top = target * rowHeight;
    if (top < scroller.current.scrollTop) scroller.current.scrollTop = top;
    else if (top + rowHeight > scroller.current.scrollTop + room)
      scroller.current.scrollTop = top + rowHeight - room;
    const row = rowAt(target);
    if (row !== undefined) props.onMove?.(row, target);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || total === 0) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / rowHeight) - 2);
    const targets: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: total - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) {
      event.preventDefault();
      move(target);
      return;
    }
    const row = rowAt(active);
    if (row === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter') onOpen?.(row, active);
    else props.onKey?.(event.key, row);
  };
  const rowId = (index: number) => `${gridId}-${index}`;
  const activeInSight = total > 0 && active >= first && active <= last;

  return (
    <div
      className={classes.frame}
      style={{ height: props.height, '--row-height': `${rowHeight}px` } as CSSProperties}
    >
      <div
        ref={scroller}
        className={classes.scroller}
        role="grid"
        aria-label={props.label}
        aria-rowcount={props.total + 1}
        aria-activedescendant={activeInSight ? rowId(active) : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div className={classes.columns}>
          <div className={classes.head} role="rowgroup">
            <div
              className={classes.row}
              role="row"
              aria-rowindex={1}
              style={{ gridTemplateColumns: template }}
            >
              {shownColumns.map((column) => (
                <VirtualHeaderCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
              ))}
            </div>
          </div>
          {total === 0 ? (
            <div role="rowgroup">
              <div role="row" className={classes.empty}>
                <div role="gridcell">{props.empty}</div>
              </div>
            </div>
          ) : (
            <div
              role="rowgroup"
              aria-owns={
                virtualizer.isScrolling ? undefined : items.map((item) => rowId(item.index)).join(' ')
              }
              className={classes.body}
              style={{ height: total * rowHeight }}
            >
              {bySlot.map((item) => {
                const row = rowAt(item.index);
                return (
                  <VirtualRow
                    key={item.index % slotCount}
                    id={rowId(item.index)}
                    index={item.index}
                    top={item.start}
                    template={template}
                    columns={shownColumns}
                    row={row}
                    active={item.index === active}
                    open={row !== undefined && (props.isOpen?.(row) ?? false)}
                    onOpen={onOpen}
                    onActivate={setActive}
                  />
                );
              })}
            </div>
          )}
        </div>
      </div>
      {props.total > total && (
        <p className="muted">
          {t('table.cut', { shown: format.integer(total), all: format.integer(props.total) })}
        </p>
      )}
    </div>
  );
}

interface VirtualHeaderCellProps {
  column: Pick<VirtualColumn<object>, 'id' | 'title' | 'align' | 'titleHidden' | 'hint' | 'firstSort'>;
  sort: TableSort | undefined;
  onSort: ((sort: TableSort) => void) | undefined;
}

function VirtualHeaderCell({ column, sort, onSort }: VirtualHeaderCellProps) {
  const { id, title, align = 'start', titleHidden, hint, firstSort } = column;
  const isSortable = onSort !== undefined && firstSort !== undefined;
  const isSorted = sort?.id === id;
  const ariaSort = isSorted ? (sort.desc ? 'descending' : 'ascending') : undefined;
  const SortIcon = isSorted ? (sort.desc ? IconArrowDown : IconArrowUp) : IconArrowsSort;
  const head = (
    <div
      className={`${classes.headCell} ${classes[align]}`}
      role="columnheader"
      aria-sort={ariaSort}
      // Lets keyboard users reach the hint.
      tabIndex={hint !== undefined && !isSortable ? 0 : undefined}
    >
      {isSortable ? (
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
  return hint === undefined ? head : <Hint label={hint}>{head}</Hint>;
}

interface VirtualRowProps<Row extends object> {
  id: string;
  index: number;
  top: number;
  template: string;
  columns: readonly VirtualColumn<Row>[];
  /** Undefined until the row has arrived: its cells are empty until then. */
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
      onClick={(event) => {
        props.onActivate(index);
        // A click on a checkbox does not open its row, and the keys still belong to the table.
        if (event.target instanceof HTMLInputElement)
          event.currentTarget.closest<HTMLElement>('[role="grid"]')?.focus({ preventScroll: true });
        else if (row) onOpen?.(row, index);
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
            {row && column.cell(row, index)}
          </div>
        );
      })}
    </div>
  );
}

/** Most visible rows do not change when the table is scrolled. */
const VirtualRow = memo(VirtualRowView) as typeof VirtualRowView;
