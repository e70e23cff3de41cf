import type { Told } from '@causeway/identity';
import {
  type NoticeChannel,
  operationalType,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { acrossTenants, isDue, type Repeated, repeat, tenantIs } from '@causeway/runtime';
import { sql } from 'kysely';
import { accessMetrics } from '../metrics.ts';
import { type NoticesContext, type Send, sendColumns } from './context.ts';
import { linkMail } from './links.ts';
import { type MailMessage, MailRefused } from './mail.ts';
import { linkless, nameOf } from './names.ts';
import { maySee, wantsMail } from './recipients.ts';
import { type NoticeRow, noticeColumns, titleOf, wordsOf } from './words.ts';

/**
 * Sends what is due, for at most `slots` companies at a time and one message of each: a company with many messages, or a
 * receiver that hangs, delays no other. A message is claimed by a lease right before it is sent, and its row is deleted after
 * it was accepted, so a process that is killed in between sends it again, under the same id.
 */
export const startSender = (
  context: NoticesContext,
  channels: readonly Send['channel'][],
  slots: number,
): { wake(): void; stop(): Promise<void> } => {
  const busy = new Map<number, Promise<void>>();
  for (const channel of channels)
    context.metrics.counter(accessMetrics.access_notices_total).cell(channel, 'accepted');
  const ofCompany = async (companyId: number, stopping: AbortSignal): Promise<void> => {
    for (let sent = 0; sent < inARow && !stopping.aborted; sent++) {
      const send = await claim(context, companyId, channels);
      if (!send) return;
      await finish(context, send, await deliver(context, send));
    }
  };
  const loop: Repeated = repeat(
    async (stopping) => {
      const { db, now, log } = context;
      if (busy.size >= slots) return 0;
      const companies = await acrossTenants(db, 'notices of all companies become due')
        .selectFrom('notice_sends')
        .select(['company_id', (eb) => eb.fn.min('due_utc').as('first')])
        .where('channel', 'in', channels)
        .where(isDue('due_utc', now(), lastRetryMs))
        .groupBy('company_id')
        .orderBy('first')
        .limit(slots + busy.size)
        .execute();
      for (const { company_id: companyId } of companies) {
        if (busy.has(companyId) || busy.size >= slots) continue;
        const work = ofCompany(companyId, stopping)
          .catch((error: unknown) => log.warn({ error, companyId }, 'sending notices failed'))
          .finally(() => {
            busy.delete(companyId);
            loop.wake();
          });
        busy.set(companyId, work);
      }
      return 0;
    },
    { pauseMs: 2000, onError: (error) => context.log.warn({ error }, 'looking for notices to send failed') },
  );
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop();
      await Promise.all(busy.values());
    },
  };
};

/** Messages of one company before others take their turn. */
const inARow = 16;
const leaseMs = 60_000;
const sendMs = 40_000;

const claim = async (
  { db, now }: NoticesContext,
  companyId: number,
  channels: readonly Send['channel'][],
): Promise<ClaimedSend | undefined> => {
  const at = now();
  const leaseUtc = new Date(at.getTime() + leaseMs);
  const found = await db
    .selectFrom('notice_sends')
    .select([...sendColumns, 'due_utc'])
    .where('company_id', '=', companyId)
    .where('channel', 'in', channels)
    .where(isDue('due_utc', at, lastRetryMs))
    .orderBy('due_utc')
    .limit(1)
    .executeTakeFirst();
  if (!found) return undefined;
  const { numUpdatedRows } = await db
    .updateTable('notice_sends')
    .set({ due_utc: leaseUtc, attempts: found.attempts + 1 })
    .where('company_id', '=', companyId)
    .where('send_id', '=', found.send_id)
    // Another replica may have claimed it.
    .where('due_utc', '=', found.due_utc)
    .executeTakeFirst();
  return numUpdatedRows === 1n ? { ...found, attempts: found.attempts + 1, leaseUtc } : undefined;
};

interface ClaimedSend extends Send {
  readonly leaseUtc: Date;
}

/** `dropped`: there is nobody to tell, or nothing to say any more. */
type Outcome = 'accepted' | 'dropped' | 'refused' | 'failed';

const finish = async (
  { db, now, log, metrics }: NoticesContext,
  send: ClaimedSend,
  outcome: Outcome,
): Promise<void> => {
  const { company_id, send_id, channel, attempts, created_utc, leaseUtc } = send;
  const at = now().getTime();
  if (outcome === 'accepted') await noteTold(db, send, now());
  const isOver = outcome !== 'failed' || at - created_utc.getTime() > keptForMs;
  if (isOver)
    await db
      .deleteFrom('notice_sends')
      .where('company_id', '=', company_id)
      .where('send_id', '=', send_id)
      .execute();
  else
    await db
      .updateTable('notice_sends')
      .set({ due_utc: new Date(at + Math.min(firstRetryMs * 2 ** (attempts - 1), lastRetryMs)) })
      .where('company_id', '=', company_id)
      .where('send_id', '=', send_id)
      // Otherwise another replica has claimed it since.
      .where('due_utc', '=', leaseUtc)
      .execute();
  metrics.counter(accessMetrics.access_notices_total).cell(channel, outcome).value++;
  if (isOver && outcome !== 'accepted' && outcome !== 'dropped')
    log.warn({ companyId: company_id, channel, attempts, outcome }, 'notice given up');
};

/** Before the row is deleted: a message that comes twice is noted twice. Of very many, a part is listed. */
const noteTold = (db: NoticesContext['db'], { company_id, group_id, channel, user_id }: Send, at: Date) => {
  const message: Told = { channel, memberId: user_id, utc: at.toISOString() };
  return sql`
    UPDATE notices SET detail = JSON_SET(detail, '$.told', JSON_MERGE_PRESERVE(
      COALESCE(JSON_EXTRACT(detail, '$.told'), JSON_ARRAY()), CAST(${JSON.stringify([message])} AS JSON)))
    WHERE company_id = ${tenantIs(company_id)} AND group_id = ${group_id} AND kind = 'subscription_failing'
      AND CHAR_LENGTH(detail) < 50000`.execute(db);
};

const firstRetryMs = 30_000;
const lastRetryMs = 1_800_000;
const keptForMs = 3 * 86_400_000;

const deliver = async (context: NoticesContext, send: Send): Promise<Outcome> => {
  try {
    if (send.channel !== 'mail') return await post(context, send, send.channel);
    const { mail } = context;
    const message = mail && (send.sealed ? await linkMail(context, send) : await noticeMail(context, send));
    if (!mail || !message) return 'dropped';
    await within(sendMs, mail.send(message));
    return 'accepted';
  } catch (error) {
    const { company_id: companyId, channel, attempts } = send;
    context.log.warn({ error, companyId, channel, attempts }, 'notice not accepted');
    return error instanceof MailRefused ? 'refused' : 'failed';
  }
};

/** Ends before the lease does. The server may have taken the message: then it comes again, under the same id. */
const within = async (ms: number, sending: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ms, new Error(`the mail server did not take the message within ${ms} ms`));
  });
  await Promise.race([sending, tooLong]).finally(() => clearTimeout(timer));
};

/** A message tells of at most so many notices, and how many more there are. */
const maxLines = 20;

const noticesOf = async ({ db }: NoticesContext, { company_id, group_id }: Send): Promise<NoticeRow[]> =>
  db
    .selectFrom('notices')
    .select(noticeColumns)
    .where('company_id', '=', company_id)
    .where('group_id', '=', group_id)
    .orderBy('notice_id')
    .execute();

/** Undefined if the member has left, may no longer see the notices, or wants no mail of them. */
const noticeMail = async (context: NoticesContext, send: Send): Promise<MailMessage | undefined> => {
  const { db, mail } = context;
  const member = await db
    .selectFrom('portal_users as member')
    .innerJoin('companies as company', 'company.company_id', 'member.company_id')
    .select([
      'member.id',
      'member.email',
      'member.role',
      'member.notice_mail',
      'company.name as company_name',
    ])
    .where('member.company_id', '=', send.company_id)
    .where('member.id', '=', send.user_id)
    .executeTakeFirst();
  if (!member || !mail) return undefined;
  const notices = (await noticesOf(context, send)).filter((one) => maySee(member, one));
  const [first] = notices;
  if (!first || !wantsMail(member, first.kind)) return undefined;
  const { path } = wordsOf(first, member.id);
  const company = nameOf(member.company_name);
  return {
    to: member.email,
    subject: `${titleOf(notices)} · ${company}`,
    messageId: `notice.${send.company_id}.${send.group_id}.${member.id}`,
    paragraphs: linesOf(notices, '\n'),
    link:
      notices.length === 1
        ? { label: 'Open in the portal', url: mail.portalUrl + path }
        : { label: 'See all notifications', url: `${mail.portalUrl}/notifications` },
    footer: `You get this as a member of ${company} on Causeway. Choose your mails at`,
    footerUrl: `${mail.portalUrl}/notifications?tab=settings`,
  };
};

const linesOf = (notices: readonly NoticeRow[], between: string): string[] => {
  const lines = notices.slice(0, maxLines).map((one) => {
    const { title, text } = wordsOf(one);
    return `${title}${between}${text}`;
  });
  return notices.length > maxLines ? [...lines, `And ${notices.length - maxLines} more.`] : lines;
};

const post = async (context: NoticesContext, send: Send, channel: NoticeChannel): Promise<Outcome> => {
  const { bus, db } = context;
  const { company_id: companyId, group_id } = send;
  const company = await db
    .selectFrom('notice_channels as channel')
    .innerJoin('companies as company', 'company.company_id', 'channel.company_id')
    .select('company.name')
    .where('channel.company_id', '=', companyId)
    .where('channel.channel', '=', channel)
    .executeTakeFirst();
  const notices = company ? await noticesOf(context, send) : [];
  const [first] = notices;
  if (!company || !first) return 'dropped';
  const eventType = operationalType(first.kind);
  const message =
    channel === 'slack'
      ? {
          text: slackText(context, nameOf(company.name), notices),
          mrkdwn: false,
          unfurl_links: false,
        }
      : {
          id: group_id,
          type: eventType,
          createdUtc: first.created_utc.toISOString(),
          companyId,
          payload: { count: notices.length, notices: notices.slice(0, maxLines).map(noticePayload) },
        };
  const test: TestDelivery = {
    ...{ companyId, channel, subscriptionId: 0, eventId: group_id!, eventType },
    body: JSON.stringify(message),
  };
  // The dispatchers have the guarded sender and the signing secrets.
  if (!bus.connected()) throw new Error('NATS is disconnected');
  const reply = await bus.nc.request(testDeliverySubject, JSON.stringify(test), { timeout: postTimeoutMs });
  const answer = reply.json<TestDeliveryAnswer>();
  if (!('attempt' in answer)) throw new Error(answer.error);
  const { error_class, status_code } = answer.attempt;
  if (error_class === null) return 'accepted';
  throw new Error(`the channel answered ${status_code ?? error_class}`);
};

const postTimeoutMs = 20_000;

const noticePayload = (notice: NoticeRow) => {
  const { title, text, path } = wordsOf(notice);
  const { told: _, ...detail } = JSON.parse(notice.detail) as Readonly<Record<string, unknown>>;
  return {
    id: notice.notice_id,
    createdUtc: notice.created_utc.toISOString(),
    subject: { id: notice.subject_id, name: notice.subject_name },
    title,
    text,
    path,
    detail,
  };
};

/** Slack reads `<…>` as links and mentions, also where it does not read its markup. */
const slackText = ({ mail }: NoticesContext, company: string, notices: readonly NoticeRow[]): string => {
  const [first, ...more] = notices.map((notice) => wordsOf(notice));
  const title = `${company}: ${titleOf(notices)}`;
  const lines = more.length > 0 ? linesOf(notices, ': ') : [first!.text];
  const page = more.length > 0 ? '/notifications' : first!.path;
  return [...[title, ...lines].map(linkless), ...(mail ? [mail.portalUrl + page] : [])]
    .join('\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
};
