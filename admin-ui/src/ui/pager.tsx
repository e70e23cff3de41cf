import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Button } from './button.tsx';
import { number } from './format.ts';
import s from './pager.module.css';

interface PagerProps {
  /** Of the page that is shown; undefined: the first one. */
  readonly cursor: string | undefined;
  /** The page that is shown; undefined while it loads. */
  readonly page: { readonly hasMore: boolean; readonly nextCursor: string | null } | undefined;
  readonly onPage: (cursor: string | undefined) => void;
  readonly label?: string;
  readonly first?: string;
  readonly next?: string;
}

/** Cursor pagination: back to the newest page, or on to the next older one. */
export function Pager(props: PagerProps) {
  const { cursor, page, onPage, label = 'Pages', first = 'Newest', next = 'Older' } = props;
  const older = page?.hasMore ? page.nextCursor : null;
  if (cursor === undefined && older === null) return null;
  return (
    <nav className={s.pager} aria-label={label}>
      <Button
        size="s"
        icon={<ChevronLeft />}
        disabledReason={cursor === undefined ? 'This is the first page' : undefined}
        onClick={() => onPage(undefined)}
      >
        {first}
      </Button>
      <Button
        size="s"
        disabledReason={older === null ? 'This is the last page' : undefined}
        onClick={() => onPage(older ?? undefined)}
      >
        {next} <ChevronRight />
      </Button>
    </nav>
  );
}

interface NumberedPagerProps {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly count: number;
  readonly onPage: (page: number) => void;
}

/** Pagination of a list that is loaded completely. */
export function NumberedPager({ page, pageSize, count, onPage }: NumberedPagerProps) {
  if (count <= pageSize) return null;
  const last = Math.ceil(count / pageSize);
  return (
    <nav className={s.pager} aria-label="Pages">
      <span className={s.place} role="status">
        {number((page - 1) * pageSize + 1)}–{number(Math.min(page * pageSize, count))} of {number(count)}
      </span>
      <Button
        size="s"
        icon={<ChevronLeft />}
        disabledReason={page > 1 ? undefined : 'This is the first page'}
        onClick={() => onPage(page - 1)}
      >
        Previous
      </Button>
      <Button
        size="s"
        disabledReason={page < last ? undefined : 'This is the last page'}
        onClick={() => onPage(page + 1)}
      >
        Next <ChevronRight />
      </Button>
    </nav>
  );
}

/** One page of a list; beyond the end, the last page. */
export const pageOf = <Row,>(
  rows: readonly Row[],
  wanted: number | undefined,
  pageSize: number,
): { readonly page: number; readonly rows: readonly Row[] } => {
  const last = Math.max(Math.ceil(rows.length / pageSize), 1);
  const page = Math.min(Math.max(wanted ?? 1, 1), last);
  return { page, rows: rows.slice((page - 1) * pageSize, page * pageSize) };
};
