import { raiseSubscriptionsVersion } from '@causeway/deliveries';
import { closedReason, startEmptying } from '@causeway/identity';
import { byOperator, contract } from '@causeway/proto';
import {
  acrossTenants,
  eachAlone,
  handler,
  json,
  type Repeated,
  repeat,
  transaction,
} from '@causeway/runtime';
import { askDispatcher } from '../ask.ts';
import { auditChange } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import { emptiedTables } from '../tables.ts';
import { noteChange } from './editor.ts';
import { switchOff } from './ends.ts';

type ClosedContext = Pick<WebhooksContext, 'bus' | 'db' | 'log' | 'now'>;

export const switchSubscriptions = (context: WebhooksContext) =>
  handler(contract.switchSubscriptions, async ({ body: { company_id }, requestId }) =>
    json(200, { company_id, subscriptions: await followCompany(context, company_id, requestId) }),
  );

/** Again and again while a company is closed: a request that was under way may add a subscription. Replicas may run it at once. */
export const startFollowing = (context: ClosedContext): Repeated =>
  repeat(
    async () => {
      const rows = await acrossTenants(context.db, 'closed companies are looked for')
        .selectFrom('closed_companies as closed')
        .select('closed.company_id')
        .where(({ or, eb, exists, selectFrom }) =>
          or([
            eb('closed.opened_utc', 'is not', null),
            exists(
              selectFrom('subscriptions as s')
                .select('s.company_id')
                .whereRef('s.company_id', '=', 'closed.company_id')
                .where('s.enabled', '=', 1),
            ),
          ]),
        )
        .execute();
      await eachAlone(rows, ({ company_id }) => followCompany(context, company_id, 'closed company'));
      return 0;
    },
    { pauseMs: 2000, onError: (error) => context.log.warn({ error }, 'switching subscriptions failed') },
  );

/** @returns how many it switched */
const followCompany = (context: ClosedContext, companyId: number, requestId: string): Promise<number> =>
  transaction(context.db, async (trx) => {
    const company = await trx
      .selectFrom('closed_companies')
      .select('opened_utc')
      .where('company_id', '=', companyId)
      .forUpdate()
      .executeTakeFirst();
    if (!company) return 0;
    const isClosed = company.opened_utc === null;
    const at = context.now();
    const by = byOperator(requestId);
    const rows = await trx
      .selectFrom('subscriptions')
      .selectAll()
      .where('company_id', '=', companyId)
      .where('enabled', '=', isClosed ? 1 : 0)
      .$if(!isClosed, (query) => query.where('disabled_reason', '=', closedReason))
      .forUpdate()
      .execute();
    for (const row of rows) {
      if (isClosed) {
        await switchOff(context, trx, row, { by, at, reason: closedReason, isTold: false });
        continue;
      }
      await trx
        .updateTable('subscriptions')
        .set({ enabled: 1, disabled_reason: null, disabled_utc: null, updated_utc: at })
        .where('company_id', '=', companyId)
        .where('subscription_id', '=', row.subscription_id)
        .execute();
      await noteChange(trx, row, 'enabled', at);
      await auditChange(trx, { by }, 'subscription.enabled', row, {
        before: { enabled: false, reason: closedReason },
        after: { enabled: true },
        at,
      });
      trx.onCommit(() => askDispatcher(context, { companyId, subscriptionId: row.subscription_id }));
    }
    if (rows.length > 0) await raiseSubscriptionsVersion(trx, [companyId]);
    if (!isClosed) await trx.deleteFrom('closed_companies').where('company_id', '=', companyId).execute();
    return rows.length;
  });

export const startEmptyingWebhooks = ({ db, log, now }: ClosedContext): Repeated =>
  startEmptying({
    ...{ db, log, now, ...emptiedTables },
    onEmpty: async ({ company_id, webhooks_emptied_utc }) => {
      if (webhooks_emptied_utc) return;
      await db
        .updateTable('closed_companies')
        .set({ webhooks_emptied_utc: now() })
        .where('company_id', '=', company_id)
        .execute();
    },
  });
