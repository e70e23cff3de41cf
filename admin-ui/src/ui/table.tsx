import type { UseQueryResult } from '@tanstack/react-query';
import clsx from 'clsx';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { memo, type ReactNode, useDeferredValue } from 'react';
import { Button } from './button.tsx';
import { number } from './format.ts';
import { Quiet } from './layout.tsx';
import pagerCss from './pager.module.css';
import { Failed, Skeleton } from './states.tsx';
import tableCss from './table.module.css';
import { TimeAgo } from './values.tsx';

export interface Column<Row> {
  /** Names the column: no other of its table has the same. */
  readonly header: string;
  readonly hideHeader?: boolean;
  readonly align?: 'end';
  readonly grow?: boolean;
  /** Holds texts of any length, which are cut off beyond a maximum. */
  readonly bounded?: boolean;
  /**
   * Its place on narrow screens, where a row is a title with a badge, a detail with a time, and a menu. Other columns of
   * such a table are not shown there. The header of a named time precedes it.
   */
  readonly phone?: 'title' | 'badge' | 'detail' | 'time' | 'named-time' | 'menu' | undefined;
  /** Nothing is shown as a dash. */
  readonly cell: (row: Row) => ReactNode;
}

export const actionsColumn = <Row,>(phone: Column<Row>['phone'], cell: Column<Row>['cell']): Column<Row> => ({
  header: 'Actions',
  phone,
  hideHeader: true,
  align: 'end',
  cell,
});

export const timeColumn = <Row,>(
  header: string,
  timeOf: (row: Row) => string | null,
  layout: Pick<Column<Row>, 'align' | 'phone'> = {},
): Column<Row> => ({
  header,
  ...layout,
  cell: (row) => {
    const time = timeOf(row);
    return time === null ? <Quiet>Never</Quiet> : <TimeAgo time={time} />;
  },
});

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[] | undefined;
  /** Its error is shown in place of the table if nothing was loaded. */
  readonly query?: UseQueryResult | undefined;
  readonly rowKey: (row: Row) => string | number;
  readonly emptyState: ReactNode;
  readonly selected?: ((row: Row) => boolean) | undefined;
  /** Shows one of the pages into which the rows are parted. */
  readonly paged?: Paged | undefined;
  readonly narrow?: boolean;
}

interface Paged {
  readonly page: number | undefined;
  readonly size: number;
  readonly onPage: (page: number | undefined) => void;
}

/** More than a window shows. */
const rowsOfScreen = 20;

/** By Back or Forward: the place where the reader was is found again only if all rows are there. */
let isReturning = false;
addEventListener('popstate', () => {
  isReturning = true;
});
for (const type of ['pointerdown', 'keydown'])
  addEventListener(
    type,
    () => {
      isReturning = false;
    },
    { capture: true },
  );

/** A table that becomes a list of cards on narrow screens; ARIA roles keep it a table. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, query, rows: all, rowKey, emptyState, selected, paged, narrow } = props;
  const last = Math.max(Math.ceil((all?.length ?? 0) / (paged?.size ?? 1)), 1);
  const page = Math.min(Math.max(paged?.page ?? 1, 1), last);
  const latest = paged ? all?.slice((page - 1) * paged.size, page * paged.size) : all;
  // The answer to a click is painted before the rows that it brings, and the first screen before those below it.
  const first = latest?.slice(0, rowsOfScreen);
  const rows = useDeferredValue(latest, isReturning ? latest : first) ?? first;
  if (query?.isError && query.data === undefined)
    return <Failed error={query.error} retry={() => void query.refetch()} />;
  if (rows?.length === 0) return emptyState;
  const table = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={clsx(tableCss.scroll, narrow && tableCss.narrow)} aria-label={label} tabIndex={0}>
      <table
        className={clsx(tableCss.table, columns.some(({ phone }) => phone) && tableCss.brief)}
        aria-busy={rows === undefined}
        aria-label={label}
        // biome-ignore lint/a11y/noRedundantRoles: display: block takes a table's meaning away
        role="table"
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={clsx(column.align && tableCss.end, column.grow && tableCss.grow)}
              >
                <span className={column.hideHeader ? 'visually-hidden' : undefined}>{column.header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: skeletonRows }, (_, row) => (
                // Negative, because React would move the row of an id that is equal.
                <tr key={String(-1 - row)}>
                  {columns.map((column, index) => (
                    <td
                      key={column.header}
                      data-label={column.hideHeader ? undefined : column.header}
                      data-phone={column.phone}
                    >
                      <Skeleton width={index === 0 ? '70%' : '3.5rem'} />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <TableRow
                  key={rowKey(row)}
                  row={row}
                  columns={columns as readonly Column<unknown>[]}
                  selected={selected?.(row) ?? false}
                />
              ))}
        </tbody>
      </table>
    </section>
  );
  return (
    <>
      {table}
      {paged && all && last > 1 && <NumberedPager {...paged} page={page} count={all.length} />}
    </>
  );
}

const skeletonRows = 8;

interface TableRowProps {
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  readonly selected: boolean;
}

/** Renders again only for another row, or for other columns: keep them from render to render. */
const TableRow = memo(function TableRow({ row, columns, selected }: TableRowProps) {
  return (
    <tr data-selected={selected || undefined} aria-current={selected || undefined}>
      {columns.map((column) => (
        <td
          key={column.header}
          className={clsx(
            column.align && tableCss.end,
            column.grow && tableCss.grow,
            column.bounded && tableCss.bounded,
          )}
          data-label={column.hideHeader ? undefined : column.header}
          data-phone={column.phone}
        >
          {column.hideHeader ? column.cell(row) : shownIn(column.cell(row))}
        </td>
      ))}
    </tr>
  );
});

const shownIn = (value: ReactNode): ReactNode =>
  value == null || value === false ? <Quiet>–</Quiet> : value;

interface PagesProps {
  readonly place?: string;
  readonly back: string;
  readonly next: string;
  /** Undefined on the first page. */
  readonly onBack: (() => void) | undefined;
  /** Undefined on the last page. */
  readonly onNext: (() => void) | undefined;
}

const Pages = ({ place, back, next, onBack, onNext }: PagesProps) => (
  <nav className={pagerCss.pager} aria-label="Pages">
    {place !== undefined && (
      <span className={pagerCss.place} role="status">
        {place}
      </span>
    )}
    <Button
      size="s"
      icon={<ChevronLeft />}
      disabledReason={onBack ? undefined : 'This is the first page'}
      onClick={onBack}
    >
      {back}
    </Button>
    <Button size="s" disabledReason={onNext ? undefined : 'This is the last page'} onClick={onNext}>
      {next} <ChevronRight />
    </Button>
  </nav>
);

interface PagerProps {
  readonly cursor: string | undefined;
  readonly page: { readonly hasMore: boolean; readonly nextCursor: string | null } | undefined;
  readonly onPage: (cursor: string | undefined) => void;
  readonly first?: string;
  readonly next?: string;
}

export function Pager({ cursor, page, onPage, first = 'Newest', next = 'Older' }: PagerProps) {
  const older = page?.hasMore ? page.nextCursor : null;
  if (cursor === undefined && older === null) return null;
  const onBack = cursor === undefined ? undefined : () => onPage(undefined);
  const onNext = older === null ? undefined : () => onPage(older);
  return <Pages back={first} next={next} onBack={onBack} onNext={onNext} />;
}

function NumberedPager({ page, size, count, onPage }: Paged & { readonly page: number; count: number }) {
  const end = Math.min(page * size, count);
  return (
    <Pages
      place={`${number((page - 1) * size + 1)}–${number(end)} of ${number(count)}`}
      back="Previous"
      next="Next"
      onBack={page > 1 ? () => onPage(page === 2 ? undefined : page - 1) : undefined}
      onNext={end < count ? () => onPage(page + 1) : undefined}
    />
  );
}
