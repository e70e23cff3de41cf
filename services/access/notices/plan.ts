import type { NoticeKind } from '@causeway/proto';
import { acrossTenants, type Trx, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import type { AccessTables } from '../schema.ts';
import type { NoticesContext } from './context.ts';
import { digestOf } from './digest.ts';
import { maySee, wantsMail } from './recipients.ts';
import { noticeColumns } from './words.ts';

/**
 * Decides who is told of the notices that are due: notices of one kind go in one message, and a company gets few messages of
 * a kind in an hour. What is beyond that waits, and goes in one message too. One transaction for each company.
 * @returns the companies that were looked at.
 */
export const planNotices = async (context: NoticesContext): Promise<number> => {
  const { db, now, gatherMs } = context;
  const until = new Date(now().getTime() - gatherMs);
  const companies = await acrossTenants(db, 'notices of all companies become due')
    .selectFrom('notices')
    .select(['company_id', (eb) => eb.fn.min('due_utc').as('first')])
    .where('due_utc', '<=', until)
    .groupBy('company_id')
    .orderBy('first')
    .limit(companiesAtOnce)
    .execute();
  for (const { company_id } of companies)
    await transaction(db, (trx) => planCompany(context, trx, company_id, until));
  return companies.length < companiesAtOnce ? 0 : companies.length;
};

const companiesAtOnce = 50;
const noticesAtOnce = 1000;
/** Of one kind and company. */
export const messagesPerHour = 6;
const hourMs = 3_600_000;

const planCompany = async (
  context: NoticesContext,
  trx: Trx<AccessTables>,
  company_id: number,
  until: Date,
): Promise<void> => {
  const at = context.now();
  // One replica plans for a company at a time, so that the messages of an hour are counted exactly.
  const company = await trx
    .selectFrom('companies')
    .select('company_id')
    .where('company_id', '=', company_id)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (!company) return;
  const due = await trx
    .selectFrom('notices')
    .select(noticeColumns)
    .where('company_id', '=', company_id)
    .where('due_utc', '<=', until)
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
  for (const [kind, notices] of Map.groupBy(due, (one) => one.kind)) {
    const ids = notices.map(({ notice_id }) => notice_id);
    const ofThese = trx
      .updateTable('notices')
      .where('company_id', '=', company_id)
      .where('notice_id', 'in', ids);
    const waitUntil = await nextTurn(trx, company_id, kind, at);
    if (waitUntil) {
      await ofThese.set({ due_utc: waitUntil }).execute();
      continue;
    }
    if (kind === 'weekly_digest') {
      const digest = await digestOf(trx, company_id, notices[0]!);
      if (digest === null) {
        await trx
          .deleteFrom('notices')
          .where('company_id', '=', company_id)
          .where('notice_id', 'in', ids)
          .execute();
        continue;
      }
      await ofThese.set({ detail: JSON.stringify(digest) }).execute();
    }
    const group_id = ids[0]!;
    await ofThese.set({ due_utc: null, planned_utc: at, group_id }).execute();
    const told = context.mail === null ? [] : members.filter((member) => wantsMail(member, kind));
    const sends = [
      ...told
        .filter((member) => notices.some((one) => maySee(member, one)))
        .map(({ id }) => ({ channel: 'mail' as const, user_id: id })),
      ...channels
        .filter(({ kinds }) => kinds.split(',').includes(kind))
        .map(({ channel }) => ({ channel, user_id: null })),
    ].map((send) => ({ ...send, company_id, group_id, due_utc: at, created_utc: at }));
    if (sends.length > 0) await trx.insertInto('notice_sends').values(sends).execute();
  }
};

/** Undefined if the company may be told of the kind now. */
const nextTurn = async (
  trx: Trx<AccessTables>,
  company_id: number,
  kind: NoticeKind,
  at: Date,
): Promise<Date | undefined> => {
  const messages = await trx
    .selectFrom('notices')
    .select('planned_utc')
    .where('company_id', '=', company_id)
    .where('planned_utc', '>', new Date(at.getTime() - hourMs))
    .where('kind', '=', kind)
    .where(sql<boolean>`group_id = notice_id`)
    .orderBy('planned_utc', 'desc')
    .limit(messagesPerHour)
    .execute();
  const oldest = messages[messagesPerHour - 1]?.planned_utc;
  return oldest ? new Date(oldest.getTime() + hourMs) : undefined;
};
