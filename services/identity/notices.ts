import type { NoticeKind } from '@causeway/proto';
import { rowList } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';

/** What `access` tells the members and channels of a company; a row of `notices`. */
export interface Notice {
  readonly companyId: number;
  readonly kind: NoticeKind;
  /** ASCII, at most 150 characters. A cause that has a notice gets no other. */
  readonly cause: string;
  readonly subject: { readonly id: number | null; readonly name: string };
  /** The member whose rights or factors changed. */
  readonly userId?: number | null;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** Call it in the transaction of the cause. */
export const writeNotices = async <DB>(db: Kysely<DB>, notices: readonly Notice[]): Promise<void> => {
  if (notices.length === 0) return;
  // In the order of the key, so that concurrent writers queue instead of deadlocking.
  const sorted = notices.toSorted((a, b) => a.companyId - b.companyId || (a.cause < b.cause ? -1 : 1));
  const rows = sorted.map(({ companyId, kind, cause, subject, userId, detail, at }) => [
    companyId,
    kind,
    cause,
    subject.id,
    [...subject.name].slice(0, maxName).join(''),
    userId ?? null,
    JSON.stringify(detail ?? {}),
    at,
    at,
  ]);
  await sql`
    INSERT IGNORE INTO notices
      (company_id, kind, cause, subject_id, subject_name, user_id, detail, created_utc, due_utc)
    VALUES ${rowList(rows)}`.execute(db);
};

const maxName = 500;

/** Of the notice that an incident has opened. */
export const incidentCause = (subscriptionId: number, sinceUtc: Date): string =>
  `subscription_failing:${subscriptionId}:${sinceUtc.toISOString()}`;

/** A message that was accepted; in `told` of the detail of a notice that an incident has opened. */
export interface Told {
  readonly channel: 'mail' | 'webhook' | 'slack';
  /** Whom a mail was for. */
  readonly memberId: number | null;
  readonly utc: string;
}
