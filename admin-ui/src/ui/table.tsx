import clsx from 'clsx';
import type { ReactNode } from 'react';
import { Skeleton } from './states.tsx';
import s from './table.module.css';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** The header is for screen readers only, as above buttons. */
  readonly hideHeader?: boolean;
  readonly align?: 'end';
  /** Takes the remaining width. */
  readonly grow?: boolean;
  /** Holds texts of any length, which are cut off beyond a maximum. */
  readonly bounded?: boolean;
  /**
   * Its place on narrow screens, where a row is a title with a badge, a detail with a time, and a menu. Other columns of
   * such a table are not shown there. The header of a named time precedes it.
   */
  readonly phone?: 'title' | 'badge' | 'detail' | 'time' | 'named-time' | 'menu' | undefined;
  readonly cell: (row: Row) => ReactNode;
}

/** The last column: a menu or a button. */
export const actionsColumn = <Row,>(phone: Column<Row>['phone'], cell: Column<Row>['cell']): Column<Row> => ({
  id: 'actions',
  header: 'Actions',
  phone,
  hideHeader: true,
  align: 'end',
  cell,
});

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they load. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string | number;
  readonly emptyState: ReactNode;
  readonly selected?: ((row: Row) => boolean) | undefined;
  readonly skeletonRows?: number;
  /** Low rows of one line, for logs. */
  readonly dense?: boolean;
  /** Stands beside other content: it scrolls sideways where it lacks room, and its header does not stick. */
  readonly narrow?: boolean;
}

/** A table that becomes a list of cards on narrow screens; ARIA roles keep it a table. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowKey, emptyState, selected, skeletonRows = 5, dense, narrow } = props;
  if (rows?.length === 0) return emptyState;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={clsx(s.scroll, narrow && s.narrow)} aria-label={label} tabIndex={0}>
      <table
        className={clsx(s.table, dense && s.dense, columns.some(({ phone }) => phone) && s.brief)}
        aria-busy={rows === undefined}
        aria-label={label}
        // biome-ignore lint/a11y/noRedundantRoles: display: block takes a table's meaning away
        role="table"
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={clsx(column.align && s.end, column.grow && s.grow)}>
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
                      key={column.id}
                      data-label={column.hideHeader ? undefined : column.header}
                      data-phone={column.phone}
                    >
                      <Skeleton width={index === 0 ? '70%' : '3.5rem'} />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <tr
                  key={rowKey(row)}
                  data-selected={selected?.(row) || undefined}
                  aria-current={selected?.(row) || undefined}
                >
                  {columns.map((column) => (
                    <td
                      key={column.id}
                      className={clsx(
                        column.align && s.end,
                        column.grow && s.grow,
                        column.bounded && s.bounded,
                      )}
                      data-label={column.hideHeader ? undefined : column.header}
                      data-phone={column.phone}
                    >
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
    </section>
  );
}
