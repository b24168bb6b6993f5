import { useVirtualizer } from '@tanstack/react-virtual';
import { flushSync } from 'react-dom';
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { LongScroll, MOST_PIXELS } from './longScroll.ts';
import type { TableSort, VirtualColumn } from './virtualColumns.ts';
import classes from './VirtualTable.module.css';
import { VirtualHeaderCell } from './VirtualHeaderCell.tsx';
import { VirtualRow } from './VirtualRow.tsx';

export const ROW_HEIGHT = 38;
/** After that long without a movement the scroll bar is at rest. */
const REST_MS = 150;

/** Rows made above and below those in sight. */
const OVERSCAN = 4;

const NO_HIDDEN: Readonly<Record<string, boolean>> = {};

interface VirtualTableProps<Row extends object> {
  label: string;
  columns: readonly VirtualColumn<Row>[];
  hiddenColumns?: Readonly<Record<string, boolean>>;
  total: number;
  /** The row at a place of the sorted, filtered list; undefined while it has not arrived. Has to be the same
   * function until a row changes. */
  rowAt: (index: number) => Row | undefined;
  sort?: TableSort;
  onSort?: (sort: TableSort) => void;
  onRangeChange?: (first: number, last: number) => void;
  onOpen?: (row: Row, index: number) => void;
  isOpen?: (row: Row) => boolean;
  empty: ReactNode;
  height: number | string;
}

/**
 * A table of any length: only the rows in sight exist. Arrow keys move, Enter opens. A cell that keeps a state of its own
 * needs a key that names its row, since the place it stands in shows other rows too.
 */
export function VirtualTable<Row extends object>(props: VirtualTableProps<Row>) {
  const { columns, total, rowAt, onRangeChange, onOpen } = props;
  const gridId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const [scroll] = useState(() => new LongScroll());
  const [shift, setShift] = useState(0);
  const height = Math.min(total * ROW_HEIGHT, MOST_PIXELS);
  const hidden = total * ROW_HEIGHT - height;
  const goTo = (offset: number) => {
    if (!scroller.current) return;
    scroll.goTo(scroller.current, hidden, offset);
    setShift(scroll.shift);
  };

  const slots = (): number =>
    Math.ceil((virtualizer.scrollRect?.height ?? 0) / ROW_HEIGHT) + 2 * OVERSCAN + 1;
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    // As many wherever the table stands, so that no row is made or thrown away while it is scrolled.
    rangeExtractor: ({ startIndex, count }) => {
      const length = Math.min(slots(), count);
      const begin = Math.max(0, Math.min(startIndex - OVERSCAN, count - length));
      return Array.from({ length }, (_, place) => begin + place);
    },
    observeElementOffset: (instance, onOffset) => {
      const element = instance.scrollElement;
      if (!element) return undefined;
      const tooShort = () => Math.max(0, instance.options.count * ROW_HEIGHT - MOST_PIXELS);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const rest = () => {
        if (tooShort() > 0) {
          scroll.settle(element, tooShort());
          flushSync(() => setShift(scroll.shift));
        }
        onOffset(scroll.offset, false);
      };
      const onScroll = () => {
        scroll.moved(element, tooShort());
        setShift(scroll.shift);
        onOffset(scroll.offset, true);
        clearTimeout(timer);
        timer = setTimeout(rest, REST_MS);
      };
      onOffset(scroll.offset, false);
      element.addEventListener('scroll', onScroll, { passive: true });
      return () => {
        clearTimeout(timer);
        element.removeEventListener('scroll', onScroll);
      };
    },
    scrollToFn: (offset, { adjustments = 0 }) => goTo(offset + adjustments),
  });
  const items = virtualizer.getVirtualItems();
  const slotCount = slots();
  // A row that leaves at one end is refilled and enters at the other: making rows costs far more than filling them.
  // Their order in the document is therefore that of the slots; `aria-owns` gives the order in which they are read.
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
    // Not by the virtualizer, which knows no end but the element's. The head covers the height of a row.
    const room = (scroller.current?.clientHeight ?? 0) - ROW_HEIGHT;
    const top = target * ROW_HEIGHT;
    if (top < scroll.offset) goTo(top);
    else if (top + ROW_HEIGHT > scroll.offset + room) goTo(top + ROW_HEIGHT - room);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || total === 0) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / ROW_HEIGHT) - 2);
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
    } else if (event.key === 'Enter') {
      const row = rowAt(active);
      if (row !== undefined) onOpen?.(row, active);
    }
  };
  const rowId = (index: number) => `${gridId}-${index}`;
  const activeInSight = total > 0 && active >= first && active <= last;

  return (
    <div className={classes.frame} style={{ height: props.height }}>
      <div
        ref={scroller}
        className={classes.scroller}
        role="grid"
        aria-label={props.label}
        aria-rowcount={total + 1}
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
              style={{ height }}
            >
              {bySlot.map((item) => {
                const row = rowAt(item.index);
                return (
                  <VirtualRow
                    key={item.index % slotCount}
                    id={rowId(item.index)}
                    index={item.index}
                    top={item.start - (hidden > 0 ? shift : 0)}
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
    </div>
  );
}
