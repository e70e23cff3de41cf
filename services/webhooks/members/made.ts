import { contract, type NoticeChannel, noticeChannels } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { type ShareRow, selectShares } from '../deliveries/shares.ts';
import { channelNames, shownUrl } from '../notices/channels.ts';
import type { Tables } from '../tables.ts';

/** For the dialog that removes or demotes a member. */
export const listMemberWork = ({ db, now }: WebhooksContext) =>
  handler(contract.listMemberWork, async (call) => {
    const { companyId } = call;
    const creations = await madeBy(db, companyId, call.id('member'), ahead(now()));
    const shares = await selectShares(db, companyId).where('expires_utc', '>', now()).execute();
    const subscriptions = await selectSubscriptions(db, companyId, creations.subscriptions).execute();
    const channels = await selectChannels(db, companyId, creations.channels).execute();
    const seen = await selectSubscriptions(db, companyId, creations.secrets).execute();
    return json(200, {
      links: shares.filter(creations.isLink).length,
      subscriptions: subscriptions.map(({ subscription_id: id, name, url, enabled }) => ({
        ...{ id, name, url },
        enabled: enabled === 1,
      })),
      secrets: seen.map(({ subscription_id: id, name, url }) => ({ id, name, url })),
      channels: channels.map(({ channel, url }) => ({ channel, url: shownUrl(channel, url) })),
    });
  });

export const selectSubscriptions = (db: Kysely<Tables>, companyId: number, ids: readonly number[]) =>
  db
    .selectFrom('subscriptions')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('subscription_id', 'in', [0, ...ids])
    .orderBy('subscription_id');

export const selectChannels = (db: Kysely<Tables>, companyId: number, channels: readonly NoticeChannel[]) =>
  db
    .selectFrom('notice_channels')
    .select(['channel', 'url', 'kinds'])
    .where('company_id', '=', companyId)
    .where(sql<SqlBool>`channel IN (${sql.join(['', ...channels])})`);

interface Made {
  readonly subscriptions: readonly number[];
  /** Whose present URL the member set. */
  readonly channels: readonly NoticeChannel[];
  /** Subscriptions whose present signing secret the member, or a key of theirs, was shown. */
  readonly secrets: readonly number[];
  readonly isLink: (share: ShareRow) => boolean;
}

/** Later than what was made before the clock went back. */
export const ahead = (now: Date): Date => new Date(now.getTime() + 86_400_000);

/**
 * What the audit log says that a member, or a key that they created or rotated, has created or pointed at another URL.
 * @param until later work is that of a member who has the rights again
 */
export const madeBy = async (
  db: Kysely<Tables>,
  companyId: number,
  memberId: number,
  until: Date,
): Promise<Made> => {
  const log = db
    .selectFrom('audit_log')
    .where('company_id', '=', companyId)
    .where('created_utc', '<=', until);
  const ofMember = log.where('actor_kind', '=', 'user').where('actor_id', '=', memberId);
  const keys = await ofMember
    .select('target_id')
    .distinct()
    .where('action', 'in', ['key.created', 'key.rotated'])
    .execute();
  const ofKeys = log
    .where('actor_kind', '=', 'key')
    .where('actor_id', 'in', [0, ...keys.map(({ target_id }) => Number(target_id))]);
  const subscriptions = new Set<number>();
  for (const entries of [ofMember, ofKeys]) {
    const rows = await entries
      .select('target_id')
      .distinct()
      .where('action', 'in', ['subscription.created', 'subscription.changed'])
      .where(sql<SqlBool>`JSON_CONTAINS_PATH(after_json, 'one', '$.url')`)
      .execute();
    for (const { target_id } of rows) subscriptions.add(Number(target_id));
  }
  const channels: NoticeChannel[] = [];
  for (const channel of noticeChannels) {
    const latest = await log
      .select(['actor_kind', 'actor_id'])
      .where('action', '=', 'notices.channel_changed')
      .where('target_name', '=', channelNames[channel])
      .where(
        sql<SqlBool>`(before_json IS NULL OR JSON_CONTAINS_PATH(after_json, 'one', '$.newUrl')
          OR JSON_EXTRACT(before_json, '$.url') <> JSON_EXTRACT(after_json, '$.url'))`,
      )
      .orderBy('audit_id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (latest?.actor_kind === 'user' && latest.actor_id === memberId) channels.push(channel);
  }
  const ids = keys.map(({ target_id }) => Number(target_id));
  const shown = await log
    .select(['target_id', 'actor_kind', 'actor_id'])
    .where('action', 'in', ['subscription.created', 'subscription.secret_rotated'])
    .where('audit_id', 'in', (eb) =>
      eb
        .selectFrom('audit_log')
        .select(sql<number>`MAX(audit_id)`.as('latest'))
        .where('company_id', '=', companyId)
        .where('action', 'in', ['subscription.created', 'subscription.secret_rotated'])
        .groupBy('target_id'),
    )
    .execute();
  const secrets = shown
    .filter(({ actor_kind: kind, actor_id: by }) =>
      kind === 'user' ? by === memberId : kind === 'key' && ids.includes(Number(by)),
    )
    .map(({ target_id }) => Number(target_id));
  const isLink = (share: ShareRow): boolean => share.created_by_id === memberId && share.created_utc <= until;
  return { subscriptions: [...subscriptions], channels, secrets, isLink };
};
