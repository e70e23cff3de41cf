import { raiseSubscriptionsVersion } from '@causeway/deliveries';
import type { MemberEnding } from '@causeway/proto';
import { acrossTenants, eachAlone, isDue, type Repeated, repeat, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { endShare, lateMs, selectShares } from '../deliveries/shares.ts';
import { removeChannel } from '../notices/channels.ts';
import { switchOff } from '../subscriptions/ends.ts';
import { ahead, madeBy, selectChannels, selectSubscriptions } from './made.ts';

type EndingsContext = Pick<WebhooksContext, 'bus' | 'db' | 'log' | 'now'>;

/**
 * Ends what members made who were removed or lost the role for it. `access` writes what ends, in the transaction that takes the
 * rights, so a kill of either process loses nothing. Replicas may run it at once.
 */
export const startMemberEndings = (context: EndingsContext): Repeated =>
  repeat(() => endWithMembers(context), {
    pauseMs: 2000,
    onError: (error) => context.log.warn({ error }, 'ending the work of members failed'),
  });

const againMs = 15_000;
const rowsAtOnce = 100;

const endWithMembers = async (context: EndingsContext): Promise<number> => {
  const rows = await acrossTenants(context.db, 'members of all companies whose rights ended are looked for')
    .selectFrom('member_endings')
    .select(['company_id', 'member_id'])
    .where(isDue('due_utc', context.now(), againMs))
    .limit(rowsAtOnce)
    .execute();
  await eachAlone(rows, ({ company_id, member_id }) => endWithMember(context, company_id, member_id));
  return 0;
};

const endWithMember = (context: EndingsContext, companyId: number, memberId: number): Promise<void> =>
  transaction(context.db, async (trx) => {
    const at = context.now();
    const row = await trx
      .selectFrom('member_endings')
      .selectAll()
      .where('company_id', '=', companyId)
      .where('member_id', '=', memberId)
      .where(isDue('due_utc', at, againMs))
      .forUpdate()
      .executeTakeFirst();
    if (!row) return;
    const ending = JSON.parse(row.ending) as MemberEnding;
    const { keep, by } = ending;
    const note = { companyId, by, at };
    const untilMs = row.ended_utc.getTime() + lateMs;
    const isOver = at.getTime() > untilMs;
    // Until then all is of before. What bears a later time all the same was made before the clock went back.
    const creations = await madeBy(trx, companyId, memberId, isOver ? new Date(untilMs) : ahead(at));
    if (ending.links) {
      const shares = await selectShares(trx, companyId).forUpdate().execute();
      for (const share of shares.filter(creations.isLink)) await endShare(trx, note, share);
    }
    const before = JSON.parse(row.switched_off ?? '[]') as number[];
    const ids = ending.subscriptions
      ? creations.subscriptions.filter((id) => ![...keep.subscriptions, ...before].includes(id))
      : [];
    const subscriptions = await selectSubscriptions(trx, companyId, ids).forUpdate().execute();
    for (const subscription of subscriptions)
      await switchOff(context, trx, subscription, { by, at, reason: lostReason });
    if (subscriptions.length > 0) await raiseSubscriptionsVersion(trx, [companyId]);
    const channels = ending.channels ? creations.channels.filter((one) => !keep.channels.includes(one)) : [];
    for (const channel of await selectChannels(trx, companyId, channels).forUpdate().execute())
      await removeChannel(trx, note, channel);
    if (isOver)
      await trx
        .deleteFrom('member_endings')
        .where('company_id', '=', companyId)
        .where('member_id', '=', memberId)
        .execute();
    else
      await trx
        .updateTable('member_endings')
        .set({
          due_utc: new Date(at.getTime() + againMs),
          done_utc: row.done_utc ?? at,
          switched_off: JSON.stringify([...before, ...ids]),
        })
        .where('company_id', '=', companyId)
        .where('member_id', '=', memberId)
        .execute();
  });

const lostReason = 'the member who set it up lost access';
