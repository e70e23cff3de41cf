import { writeAudit } from '@causeway/identity';
import {
  type AnswerTo,
  type AuditEntry,
  byMember,
  contract,
  type NoticeChannel,
  type NoticeKind,
  notFound,
  noticeChannels,
  noticeKindFacts,
  noticeKinds,
  operationalType,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { handler, json, type Trx } from '@causeway/runtime';
import type { Kysely, Selectable } from 'kysely';
import { askService } from '../ask.ts';
import type { WebhooksContext } from '../context.ts';
import { makeSecret } from '../subscriptions/secrets.ts';
import { assertSent } from '../subscriptions/test-delivery.ts';
import { targetProblems } from '../subscriptions/write.ts';
import type { Tables } from '../tables.ts';

export const getNoticeChannels = ({ db }: WebhooksContext) =>
  handler(contract.getNoticeChannels, async ({ companyId }) =>
    json(200, await channelsAnswer(db, companyId)),
  );

/** Slack keeps no secret of ours; the signed channel has one, as a subscription has. */
export const updateNoticeChannel = (context: WebhooksContext) =>
  handler(
    contract.updateNoticeChannel,
    (call) => {
      const { companyId, body } = call;
      const { channel, url, kinds, newSecret } = body;
      const at = context.now();
      return context.once.carryOut(call.identity, async (trx) => {
        const before = await trx
          .selectFrom('notice_channels')
          .select(['url', 'kinds', 'secret'])
          .where('company_id', '=', companyId)
          .where('channel', '=', channel)
          .forUpdate()
          .executeTakeFirst();
        if (!before && !url) throw notFound('channel');
        if (url === null) {
          await removeChannel(trx, { companyId, by: byMember(call), at }, { channel, ...before! });
          return json(200, { ...(await channelsAnswer(trx, companyId)), signingSecret: null });
        }
        const signs = channel === 'webhook' && (newSecret === true || !before?.secret);
        const secret = signs ? makeSecret(context, companyId) : undefined;
        const row = {
          url: url ?? before!.url,
          kinds: kinds
            ? noticeKinds.filter((kind) => kinds.includes(kind)).join(',')
            : (before?.kinds ?? defaultKinds),
          secret: secret?.sealed ?? before?.secret ?? null,
          updated_utc: at,
          // The latest post says nothing about another URL.
          ...(url !== undefined &&
            url !== before?.url && { last_utc: null, last_status: null, last_error: null }),
        };
        await trx
          .insertInto('notice_channels')
          .values({
            company_id: companyId,
            channel,
            last_utc: null,
            last_status: null,
            last_error: null,
            ...row,
          })
          .onDuplicateKeyUpdate(row)
          .execute();
        await writeAudit(trx, {
          companyId,
          by: byMember(call),
          action: 'notices.channel_changed',
          target: { kind: 'company', id: companyId, name: channelNames[channel] },
          before: before ? auditedChannel({ channel, ...before }) : null,
          after: {
            ...auditedChannel({ channel, ...row }),
            ...(secret && { newSecret: true }),
            // Only the end of a Slack URL is shown.
            ...(before && before.url !== row.url && { newUrl: true }),
          },
          at,
        });
        const answer = await channelsAnswer(trx, companyId);
        return json(200, { ...answer, signingSecret: secret?.shown ?? null });
      });
    },
    ({ url }) => targetProblems(context.targets)({ url: url ?? undefined }),
  );

export const testNoticeChannel = (context: WebhooksContext) =>
  handler(contract.testNoticeChannel, async (call) => {
    const { companyId, body, deadlineMs } = call;
    const { channel } = body;
    const now = context.now();
    const id = now.getTime() * 1000;
    const text = 'This is a test of your notifications.';
    const message =
      channel === 'slack'
        ? { text, mrkdwn: false }
        : { id, type: operationalType('test'), createdUtc: now.toISOString(), companyId, payload: { text } };
    const test: TestDelivery = {
      companyId,
      channel,
      subscriptionId: 0,
      eventId: id,
      eventType: operationalType('test'),
      body: JSON.stringify(message),
    };
    const answer = await askService<TestDeliveryAnswer>(context, testDeliverySubject, test, deadlineMs);
    if (!('attempt' in answer)) {
      assertSent(answer);
      throw notFound('channel');
    }
    const { error_class, status_code, error } = answer.attempt;
    const success = error_class === null;
    await writeAudit(context.db, {
      companyId,
      by: byMember(call),
      action: 'notices.channel_tested',
      target: { kind: 'company', id: companyId, name: channelNames[channel] },
      after: { success, statusCode: status_code },
      at: now,
    });
    return json(200, { success, statusCode: status_code, error });
  });

type Channel = Pick<Selectable<Tables['notice_channels']>, 'channel' | 'url' | 'kinds'>;

const auditedChannel = ({ channel, url, kinds }: Channel) => ({
  url: shownUrl(channel, url),
  kinds: kinds.split(','),
});

export const removeChannel = async (
  trx: Trx<Tables>,
  { companyId, by, at }: Pick<AuditEntry, 'companyId' | 'by' | 'at'>,
  row: Channel,
): Promise<void> => {
  const { channel } = row;
  await trx
    .deleteFrom('notice_channels')
    .where('company_id', '=', companyId)
    .where('channel', '=', channel)
    .execute();
  await writeAudit(trx, {
    companyId,
    by,
    action: 'notices.channel_removed',
    target: { kind: 'company', id: companyId, name: channelNames[channel] },
    before: auditedChannel(row),
    at,
  });
};

export const channelNames: Readonly<Record<NoticeChannel, string>> = {
  webhook: 'operational webhook',
  slack: 'Slack channel',
};

const defaultKinds = noticeKinds.join(',');

const channelsAnswer = async (
  db: Kysely<Tables>,
  companyId: number,
): Promise<AnswerTo<'getNoticeChannels'>> => {
  const rows = await db
    .selectFrom('notice_channels')
    .select(['channel', 'url', 'kinds', 'last_utc', 'last_status', 'last_error'])
    .where('company_id', '=', companyId)
    .execute();
  const sorted = noticeChannels.flatMap((channel) => rows.find((row) => row.channel === channel) ?? []);
  return {
    channels: sorted.map((row) => ({
      channel: row.channel,
      url: shownUrl(row.channel, row.url),
      kinds: row.kinds
        .split(',')
        .filter((kind): kind is NoticeKind => noticeKinds.includes(kind as NoticeKind)),
      last: row.last_utc && {
        utc: row.last_utc.toISOString(),
        statusCode: row.last_status,
        error: row.last_error,
      },
    })),
    kinds: noticeKinds.map((kind) => ({ kind, title: noticeKindFacts[kind].title })),
  };
};

/** A Slack URL is a secret: it lets its holder post to the channel. */
export const shownUrl = (channel: NoticeChannel, url: string): string =>
  channel === 'webhook' ? url : `${new URL(url).origin}/…${url.slice(-4)}`;
