import { type AnswerTo, contract, type NoticeKind, noticeKindFacts, noticeKinds } from '@causeway/proto';
import { handler, json, type Trx, transaction } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { audit, authorOf } from '../audit.ts';
import type { Access } from '../context.ts';
import type { AccessTables } from '../schema.ts';
import { selectMember, updateMember } from '../sessions/person.ts';
import { choicesOf, kindsFor, wantsMail } from './recipients.ts';
import { noticeColumns, wordsOf } from './words.ts';

const maxUnread = 100;

export const listNotices = ({ db, cursors }: Access) =>
  handler(contract.listNotices, async ({ companyId, user, query: { limit, cursor } }) => {
    const [, beforeId] = await cursors.open(companyId, 'notices', cursor);
    const visible = visibleTo(db, companyId, user);
    const { since } = await selectMember(db, companyId, user.id)
      .select(sql<Date>`COALESCE(notices_read, created_utc - INTERVAL 1 SECOND)`.as('since'))
      .executeTakeFirstOrThrow();
    const [unread, rows] = await Promise.all([
      visible.select('notice_id').where('created_utc', '>', since).limit(maxUnread).execute(),
      visible
        .select(noticeColumns)
        .$if(beforeId !== undefined, (found) => found.where('notice_id', '<', beforeId!))
        .orderBy('notice_id', 'desc')
        .limit(limit + 1)
        .execute(),
    ]);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return json(200, {
      notices: page.map((row) => ({
        id: row.notice_id,
        kind: row.kind,
        createdUtc: row.created_utc.toISOString(),
        ...wordsOf(row, user.id),
        read: row.created_utc <= since,
      })),
      unread: unread.length,
      ...(await cursors.pageEnd(companyId, 'notices', last && [last.created_utc.getTime(), last.notice_id])),
    });
  });

/** At once: only messages wait for others of their kind. */
const visibleTo = (
  db: Kysely<AccessTables>,
  companyId: number,
  { id, role }: { readonly id: number; readonly role: Parameters<typeof kindsFor>[0] },
) =>
  db
    .selectFrom('notices')
    .where('company_id', '=', companyId)
    .where('kind', 'in', noticeKinds)
    .where((eb) => eb.or([eb('kind', 'in', kindsFor(role)), eb('user_id', '=', id)]));

/** The time of reading only moves forward, so two windows do not undo each other. */
export const readNotices = ({ db }: Access) =>
  handler(contract.readNotices, async ({ companyId, user, body: { upTo } }) => {
    const notice = await visibleTo(db, companyId, user)
      .select('created_utc')
      .where('notice_id', '=', upTo)
      .executeTakeFirst();
    if (notice)
      await updateMember(db, companyId, user.id)
        .set({ notices_read: notice.created_utc })
        .where((eb) => eb.or([eb('notices_read', 'is', null), eb('notices_read', '<', notice.created_utc)]))
        .execute();
    return { status: 204, body: null };
  });

export const getNoticeSettings = (access: Access) =>
  handler(contract.getNoticeSettings, async ({ companyId, user }) =>
    json(200, await settingsOf(access, access.db, companyId, user.id)),
  );

export const updateNoticeSettings = (access: Access) =>
  handler(contract.updateNoticeSettings, async (call) => {
    const { companyId, user, body } = call;
    return transaction(access.db, async (trx) => {
      const before = await settingsOf(access, trx, companyId, user.id, true);
      const offered = new Set(before.kinds.map(({ kind }) => kind));
      const chosen = Object.entries(body.mail).filter(([kind]) => offered.has(kind as NoticeKind));
      const choices = choicesOf(await readChoices(trx, companyId, user.id));
      await updateMember(trx, companyId, user.id)
        .set({ notice_mail: JSON.stringify({ ...choices, ...Object.fromEntries(chosen) }) })
        .execute();
      const after = await settingsOf(access, trx, companyId, user.id);
      const mailed = ({ kinds }: Settings) => kinds.filter(({ mail }) => mail).map(({ kind }) => kind);
      if (String(mailed(before)) !== String(mailed(after)))
        await audit(trx, authorOf(access, call), 'notices.mail_changed', ['member', user.id, user.email], {
          before: { kinds: mailed(before) },
          after: { kinds: mailed(after) },
        });
      return json(200, after);
    });
  });

type Settings = AnswerTo<'getNoticeSettings'>;

const readChoices = (db: Kysely<AccessTables>, companyId: number, userId: number) =>
  selectMember(db, companyId, userId).select(['id', 'role', 'notice_mail']).executeTakeFirstOrThrow();

/** Changes of one's own rights come to everybody, so everybody may choose them. */
const settingsOf = async (
  { mailsFrom }: Access,
  db: Kysely<AccessTables> | Trx<AccessTables>,
  companyId: number,
  userId: number,
  locks = false,
): Promise<Settings> => {
  if (locks) await selectMember(db, companyId, userId).select('id').forUpdate().execute();
  const member = await readChoices(db, companyId, userId);
  const kinds = new Set<NoticeKind>([...kindsFor(member.role), 'access_changed']);
  return {
    mailsFrom,
    kinds: Object.entries(noticeKindFacts).flatMap(([name, { title, description }]) => {
      const kind = name as NoticeKind;
      return kinds.has(kind) ? [{ kind, title, description, mail: wantsMail(member, kind) }] : [];
    }),
  };
};
