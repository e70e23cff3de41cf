import { type NoticeKind, noticeKinds } from '@causeway/proto';
import { acrossTenants, clockSlackMs, eachAlone, isDue, type Trx, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import { selectCompany } from '../rows.ts';
import type { AccessTables } from '../schema.ts';
import type { NoticesContext } from './context.ts';
import { maySee, wantsMail } from './recipients.ts';
import { type NoticeRow, noticeColumns } from './words.ts';

/**
 * Decides who is told of the notices that are due: notices of one kind go in one message, and few messages in an hour are about
 * one subject. What is beyond that waits, and goes in one message too. One transaction for each company.
 * @returns how many companies were looked at, of `companiesAtOnce` at most.
 */
export const planNotices = async (context: NoticesContext): Promise<number> => {
  const { db, now, gatherMs } = context;
  const until = new Date(now().getTime() - gatherMs);
  const companies = await acrossTenants(db, 'notices of all companies become due')
    .selectFrom('notices')
    .select(['company_id', (eb) => eb.fn.min('due_utc').as('first')])
    .where(isDue('due_utc', until, gatherMs + againMs))
    // The release that comes may have more kinds.
    .where('kind', 'in', noticeKinds)
    .groupBy('company_id')
    .orderBy('first')
    .limit(companiesAtOnce)
    .execute();
  await eachAlone(companies, ({ company_id }) =>
    transaction(db, (trx) => planCompany(context, trx, company_id, until)),
  );
  return companies.length;
};

export const companiesAtOnce = 50;
const noticesAtOnce = 1000;
/** Of one kind and company: about one subject, and in all. */
export const messagesPerHour = { subject: 6, kind: 30 };
const hourMs = 3_600_000;
/** What waits is looked at again this soon, so that a clock that goes back holds it up for no longer. */
const againMs = 60_000;

const planCompany = async (
  context: NoticesContext,
  trx: Trx<AccessTables>,
  company_id: number,
  until: Date,
): Promise<void> => {
  const { gatherMs } = context;
  const at = context.now();
  // One replica plans for a company at a time, so that the messages of an hour are counted exactly.
  const company = await selectCompany(trx, company_id)
    .select('company_id')
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (!company) return;
  const due = await trx
    .selectFrom('notices')
    .select(noticeColumns)
    .where('company_id', '=', company_id)
    .where(isDue('due_utc', until, gatherMs + againMs))
    .where('kind', 'in', noticeKinds)
    .orderBy('notice_id')
    .limit(noticesAtOnce)
    .execute();
  if (due.length === 0) return;
  const members = await trx
    .selectFrom('portal_users')
    .select(['id', 'role', 'notice_mail'])
    .where('company_id', '=', company_id)
    .execute();
  const channels = await trx
    .selectFrom('notice_channels')
    .select(['channel', 'kinds'])
    .where('company_id', '=', company_id)
    .execute();
  for (const [kind, ofKind] of Map.groupBy(due, (one) => one.kind)) {
    const waits = await waitingSubjects(trx, company_id, ofKind, at);
    const update = (some: readonly NoticeRow[]) =>
      trx
        .updateTable('notices')
        .where('company_id', '=', company_id)
        .where('notice_id', 'in', [0, ...some.map(({ notice_id }) => notice_id)]);
    const later = ofKind.filter(waits);
    if (later.length > 0)
      await update(later)
        .set({ due_utc: new Date(at.getTime() + againMs) })
        .execute();
    const notices = ofKind.filter((one) => !waits(one));
    const [first] = notices;
    if (!first) continue;
    const group_id = first.notice_id;
    await update(notices).set({ due_utc: null, planned_utc: at, group_id }).execute();
    const recipients = context.mail === null ? [] : members.filter((member) => wantsMail(member, kind));
    const sends = [
      ...recipients
        .filter((member) => notices.some((one) => maySee(member, one)))
        .map(({ id }) => ({ channel: 'mail' as const, user_id: id })),
      ...channels
        .filter(({ kinds }) => kinds.split(',').includes(kind))
        .map(({ channel }) => ({ channel, user_id: null })),
    ].map((send) => ({ ...send, company_id, group_id, due_utc: at, created_utc: at }));
    if (sends.length > 0) await trx.insertInto('notice_sends').values(sends).execute();
  }
};

/** Nobody can hide a change of rights behind others: it is told however many there were. */
const uncapped: ReadonlySet<NoticeKind> = new Set(['access_changed']);

/** @returns whether a notice waits, because its subject or kind was told of often enough in the last hour. */
const waitingSubjects = async (
  trx: Trx<AccessTables>,
  company_id: number,
  notices: readonly NoticeRow[],
  at: Date,
): Promise<(notice: NoticeRow) => boolean> => {
  const { kind } = notices[0]!;
  if (uncapped.has(kind)) return () => false;
  const toldBefore = trx
    .selectFrom('notices')
    .select(['subject_id', 'group_id', 'planned_utc'])
    .distinct()
    .where('company_id', '=', company_id)
    .where('planned_utc', '>', new Date(at.getTime() - hourMs))
    // A later one is of a clock that went back since.
    .where('planned_utc', '<=', new Date(at.getTime() + clockSlackMs))
    .where('kind', '=', kind);
  const messages = await toldBefore
    .where(sql<boolean>`group_id = notice_id`)
    .limit(messagesPerHour.kind)
    .execute();
  if (messages.length >= messagesPerHour.kind) return () => true;
  const subjects = [...new Set(notices.map(({ subject_id }) => subject_id ?? 0))];
  const rows = await toldBefore.where('subject_id', 'in', subjects).execute();
  const bySubject = Map.groupBy(rows, (row) => row.subject_id);
  return ({ subject_id }) => (bySubject.get(subject_id)?.length ?? 0) >= messagesPerHour.subject;
};
