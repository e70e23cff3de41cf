import type { ReactNode } from 'react';
import { Badge, Cut } from '../ui/values.tsx';
import s from './record-cell.module.css';
import { nameOf, numberOf, type Subject, titleOf } from './records.tsx';

interface RecordCellProps {
  readonly type: string;
  readonly summary: string;
  /** The text of the link is a number, which is never cut. */
  readonly numbered?: boolean | undefined;
  /** The link, whose text is the record. */
  readonly children: ReactNode;
}

/** In a list of events or deliveries: the record, which tells the rows apart, then the type and a few fields. */
export const RecordCell = ({ type, summary, numbered, children }: RecordCellProps) => (
  <div className={s.cell}>
    <span className={numbered ? s.number : s.record}>{children}</span>
    <Badge mono>{type}</Badge>
    {summary && (
      <span className={s.summary}>
        <Cut text={summary} />
      </span>
    )}
  </div>
);

interface RecordTitleProps {
  readonly subject: Subject | null;
  readonly names: ReadonlyMap<number, string>;
  readonly eventId: number;
}

/** A long name is cut, its number is not. */
export function RecordTitle({ subject, names, eventId }: RecordTitleProps) {
  const name = subject && nameOf(subject, names);
  if (!name) return <Cut strong text={subject ? titleOf(subject, names) : `Event ${eventId}`} />;
  return (
    <span className={s.title}>
      <Cut strong text={name} />
      <span>
        {'\u00a0·\u00a0'}
        {numberOf(subject)}
      </span>
    </span>
  );
}
