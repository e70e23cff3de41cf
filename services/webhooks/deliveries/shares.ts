import { createHash, timingSafeEqual } from 'node:crypto';
import { isClosed, writeAudit } from '@causeway/identity';
import {
  type AuditEntry,
  byMember,
  byStranger,
  conflict,
  contract,
  isToldAt,
  type MemberEnding,
  maxDeliveryShares,
  notFound,
} from '@causeway/proto';
import { handler, json, type Trx, transaction } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { readAttempt, readDelivery } from './get.ts';
import { type DeliveryIds, deliveryIdsOf, oneOf, readSiblings } from './record.ts';

/** A token is `<company>-<share>-<secret>`. The company leads to its shard, the share to its row; the secret opens it. */
export const shareDelivery = ({ db, now, once, random }: WebhooksContext) =>
  handler(contract.shareDelivery, async (call) => {
    const { companyId, params, user, body, identity } = call;
    const name = deliveryIdsOf(params);
    oneOf(await readSiblings(db, companyId, name), name);
    const at = now();
    const shareId = Number(BigInt(`0x${Buffer.from(random(6)).toString('hex')}`)) + 1;
    const secret = Buffer.from(random(32)).toString('base64url');
    const row = {
      company_id: companyId,
      share_id: shareId,
      secret_hash: hashOf(secret),
      event_id: name.eventId,
      subscription_id: name.subscriptionId,
      replay_id: name.replayId,
      created_by: user.name || user.email,
      created_by_id: user.id,
      created_utc: at,
      expires_utc: new Date(at.getTime() + body.hours * 3_600_000),
      last_opened_utc: null,
    };
    return once.carryOut(identity, async (trx) => {
      await trx
        .deleteFrom('delivery_shares')
        .where('company_id', '=', companyId)
        .where('expires_utc', '<=', at)
        .execute();
      const { length } = await selectShares(trx, companyId).forUpdate().execute();
      if (length >= maxDeliveryShares)
        throw conflict(`the company has ${maxDeliveryShares} links; revoke one first`);
      await trx.insertInto('delivery_shares').values(row).execute();
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'delivery.shared',
        target: targetOf(row),
        after: { expiresUtc: row.expires_utc },
        at,
      });
      const token = `${companyId}-${shareId}-${secret}`;
      return json(201, { ...shareAnswer({ ...row, opened: 0 }), token });
    });
  });

export const listDeliveryShares = ({ db, now }: WebhooksContext) =>
  handler(contract.listDeliveryShares, async ({ companyId }) => {
    const rows = await selectShares(db, companyId)
      .where('expires_utc', '>', now())
      .orderBy('created_utc', 'desc')
      .limit(maxDeliveryShares)
      .execute();
    return json(200, { shares: rows.map(shareAnswer) });
  });

export const revokeDeliveryShare = ({ db, now }: WebhooksContext) =>
  handler(contract.revokeDeliveryShare, async (call) => {
    const { companyId } = call;
    const shareId = call.id('link');
    await transaction(db, async (trx) => {
      const row = await selectShares(trx, companyId)
        .where('share_id', '=', shareId)
        .forUpdate()
        .executeTakeFirstOrThrow(() => notFound('link'));
      await endShare(trx, { companyId, by: byMember(call), at: now() }, row);
    });
    return { status: 204, body: null };
  });

export const endShare = async (
  trx: Trx<Tables>,
  { companyId, by, at }: Pick<AuditEntry, 'companyId' | 'by' | 'at'>,
  row: ShareRow,
): Promise<void> => {
  await trx
    .deleteFrom('delivery_shares')
    .where('company_id', '=', companyId)
    .where('share_id', '=', row.share_id)
    .execute();
  const before = { expiresUtc: row.expires_utc };
  await writeAudit(trx, {
    companyId,
    by,
    action: 'delivery.share_revoked',
    target: targetOf(row),
    before,
    at,
  });
};

/** Shows what a viewer sees. Only the caller's address is known, and every wrong token gets the same answer. */
export const getSharedDelivery = ({ db, now }: WebhooksContext) =>
  handler(contract.getSharedDelivery, async ({ body, actor, requestId }) => {
    const at = now();
    const [, company, share, secret] = tokenForm.exec(body.token) ?? [];
    if (secret === undefined) throw notFound('link');
    const companyId = Number(company);
    const row = await db
      .selectFrom('delivery_shares')
      .selectAll()
      .where('company_id', '=', companyId)
      .where('share_id', '=', Number(share))
      .executeTakeFirst();
    if (!row || row.expires_utc <= at || !timingSafeEqual(row.secret_hash, hashOf(secret)))
      throw notFound('link');
    if ((await isEnding(db, companyId, row)) || (await isClosed(db, companyId))) throw notFound('link');
    const name: DeliveryIds = {
      eventId: row.event_id,
      subscriptionId: row.subscription_id,
      replayId: row.replay_id,
    };
    const { others: _, ...whole } = await readDelivery(db, companyId, name, 'viewer');
    // Its name is for colleagues.
    const subscription = whole.subscription && { ...whole.subscription, name: null };
    const delivery = { ...whole, subscription };
    const number = body.attempt ?? delivery.history.at(-1)?.attempt;
    const attempt =
      number === undefined ? null : await readAttempt(db, companyId, { ...name, attempt: number }, 'viewer');
    await transaction(db, async (trx) => {
      await trx
        .updateTable('delivery_shares')
        .set(({ eb }) => ({ opened: eb('opened', '+', 1), last_opened_utc: at }))
        .where('company_id', '=', companyId)
        .where('share_id', '=', row.share_id)
        .execute();
      const now = await selectShares(trx, companyId).where('share_id', '=', row.share_id).executeTakeFirst();
      if (!now || !isToldAt(now.opened - 1, now.opened)) return;
      await writeAudit(trx, {
        companyId,
        by: byStranger({ actor, requestId }),
        action: 'delivery.share_opened',
        target: targetOf(row),
        after: { opened: now.opened, sharedBy: row.created_by },
        at,
      });
    });
    return json(200, { expiresUtc: row.expires_utc, delivery, attempt });
  });

/** Longer than any request of the member that was under way: sessions prove themselves to this service for a minute. */
export const lateMs = 75_000;

/** A link is dead from the commit that takes the rights of the member who made it. */
const isEnding = async (
  db: Kysely<Tables>,
  companyId: number,
  { created_by_id, created_utc }: Pick<ShareRow, 'created_by_id' | 'created_utc'>,
): Promise<boolean> => {
  const row = await db
    .selectFrom('member_endings')
    .select(['ending', 'ended_utc'])
    .where('company_id', '=', companyId)
    .where('member_id', '=', created_by_id)
    .executeTakeFirst();
  if (!row || created_utc.getTime() > row.ended_utc.getTime() + lateMs) return false;
  return (JSON.parse(row.ending) as MemberEnding).links;
};

const tokenForm = /^([1-9]\d{0,14})-([1-9]\d{0,14})-([\w-]{43})$/;

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const selectShares = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('delivery_shares')
    .select(['share_id', 'event_id', 'subscription_id', 'replay_id', 'created_by', 'created_by_id'])
    .select(['created_utc', 'expires_utc', 'opened', 'last_opened_utc'])
    .where('company_id', '=', companyId);

export type ShareRow = Awaited<ReturnType<ReturnType<typeof selectShares>['execute']>>[number];
type Named = Pick<ShareRow, 'event_id' | 'subscription_id' | 'replay_id'>;

const deliveryIdOf = ({ event_id, subscription_id, replay_id }: Named): string =>
  `${event_id}-${subscription_id}-${replay_id}`;

const targetOf = (row: Named) =>
  ({ kind: 'delivery', id: deliveryIdOf(row), name: deliveryIdOf(row) }) as const;

const shareAnswer = (row: ShareRow) => ({
  id: row.share_id,
  deliveryId: deliveryIdOf(row),
  createdBy: row.created_by,
  createdUtc: row.created_utc,
  expiresUtc: row.expires_utc,
  opened: row.opened,
  lastOpenedUtc: row.last_opened_utc,
});
