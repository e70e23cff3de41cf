import {
  deliveryPorts,
  hostProblem,
  portProblem,
  raiseSubscriptionsVersion,
  type SubscriptionRow,
} from '@causeway/deliveries';
import { assertSameName, writeAudit } from '@causeway/identity';
import {
  type AuditEntry,
  byMember,
  contract,
  type Detail,
  definitions,
  quotaExceeded,
  unverifiedReason,
} from '@causeway/proto';
import { handler, json, type Trx } from '@causeway/runtime';
import { askDispatcher } from '../ask.ts';
import { auditChange, editable } from '../audit.ts';
import type { TargetRules, WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { disabledThrough, type Editor, editorOf, noteChange } from './editor.ts';
import { shownTo } from './read.ts';
import { lockSubscription, readSubscription, subscriptionAnswer } from './record.ts';
import { pausedBy, ruleColumns, typeProblems } from './rules.ts';
import { makeSecret } from './secrets.ts';
import { findSame, subscribeAgain } from './subscribe-again.ts';
import { verifiesEndpoints } from './verification.ts';

/**
 * A challenge for the receiver is sent after the commit: the create does not wait for it. A tool that creates
 * the same subscription again gets its present subscription (contract, "Subscriptions").
 */
export const createSubscription = (context: WebhooksContext) =>
  handler(
    definitions.createSubscription,
    async (call) => {
      const { companyId, identity, body } = call;
      const tool =
        call.audience === 'key' && call.body.managedBy
          ? { managedBy: call.body.managedBy, keyId: call.keyId }
          : undefined;
      const editor = editorOf(call);
      const secret = makeSecret(context, companyId);
      const now = context.now();
      return context.once.carryOut(identity, async (trx) => {
        await takeTurns(trx, companyId);
        const same = tool && (await findSame(trx, companyId, { ...body, ...tool }));
        if (same && tool) {
          const { record, signingSecret } = await subscribeAgain(context, trx, {
            before: same,
            editor,
            keyId: tool.keyId,
            wantsEnabled: body.enabled,
            now,
          });
          return json(200, { ...subscriptionAnswer(record), signingSecret });
        }
        await assertRoom(trx, companyId, context.quotas.subscriptions);
        if (call.audience === 'member' && call.body.basedOn)
          assertSameName('subscription', await namesOf(trx, companyId), body.name ?? null, call.body.basedOn);
        const unverified = await verifiesEndpoints(trx, companyId);
        const enabled = body.enabled && !unverified;
        const { insertId } = await trx
          .insertInto('subscriptions')
          .values({
            company_id: companyId,
            name: body.name ?? null,
            description: body.description ?? null,
            url: body.url,
            event_types: JSON.stringify(body.eventTypes),
            enabled: enabled ? 1 : 0,
            managed_by: tool?.managedBy ?? null,
            key_id: tool?.keyId ?? null,
            disabled_reason: enabled ? null : body.enabled ? unverifiedReason : disabledThrough(editor),
            disabled_utc: enabled ? null : now,
            verification: unverified ? (body.enabled ? 'pending' : 'required') : null,
            secret: secret.sealed,
            ...ruleColumns(context, companyId, body),
            ...pausedBy({ paused_utc: null }, body, { editor, now }),
            previous_secret: null,
            previous_secret_until: null,
            created_utc: now,
            updated_utc: now,
          })
          .executeTakeFirstOrThrow();
        const subscriptionId = Number(insertId);
        const key = { company_id: companyId, subscription_id: subscriptionId };
        await noteChange(trx, key, 'created', now);
        const record = await readSubscription(trx, companyId, subscriptionId);
        await auditChange(trx, editor, 'subscription.created', record, { after: editable(record), at: now });
        const shown = await shownTo(call, { ...context, db: trx }, record);
        trx.onCommit(() => {
          if (record.verification === 'pending') context.challenges.send(editor, record);
          return askDispatcher(context, { companyId, subscriptionId });
        });
        await raiseSubscriptionsVersion(trx, [companyId]);
        return json(201, { ...shown, signingSecret: secret.shown });
      });
    },
    (fields) => [...targetProblems(context.targets)(fields), ...typeProblems(fields)],
  );

const namesOf = async (trx: Trx<Tables>, companyId: number): Promise<readonly (string | null)[]> => {
  const rows = await trx
    .selectFrom('subscriptions')
    .select('name')
    .where('company_id', '=', companyId)
    .execute();
  return rows.map(({ name }) => name);
};

/** Locks the company, so its creates run one after another (contract, "Quotas"). */
const takeTurns = async (trx: Trx<Tables>, companyId: number): Promise<void> => {
  await trx
    .insertInto('webhook_companies')
    .values({ company_id: companyId, subscriptions_created: 1 })
    .onDuplicateKeyUpdate(({ eb }) => ({ subscriptions_created: eb('subscriptions_created', '+', 1) }))
    .execute();
};

/** @throws Problem `quota_exceeded` */
const assertRoom = async (trx: Trx<Tables>, companyId: number, limit: number): Promise<void> => {
  const { made: madeCount } = await trx
    .selectFrom('subscriptions')
    .select((eb) => eb.fn.countAll<number>().as('made'))
    .where('company_id', '=', companyId)
    .executeTakeFirstOrThrow();
  if (madeCount >= limit)
    throw quotaExceeded(
      'subscriptions',
      limit,
      `the company has reached its quota of ${limit} subscriptions; delete one that is not needed`,
    );
};

/** Also one that a tool manages. The dispatchers drop its waiting deliveries and remove its queue. */
export const deleteSubscription = (context: WebhooksContext) =>
  handler(definitions.deleteSubscription, (call) => {
    const { companyId, identity } = call;
    const subscriptionId = call.id('subscription');
    return context.once.carryOut(identity, async (trx) => {
      const row = await lockSubscription(trx, companyId, subscriptionId);
      await removeSubscription(context, trx, { row, editor: editorOf(call) });
      return { status: 204, body: null };
    });
  });

/** Call it with the row locked. */
export const removeSubscription = async (
  context: Pick<WebhooksContext, 'bus' | 'log' | 'now'>,
  trx: Trx<Tables>,
  { row, editor, after = null }: Removal,
): Promise<void> => {
  const { company_id, subscription_id } = row;
  for (const table of ['subscriptions', 'missed_events'] as const)
    await trx
      .deleteFrom(table)
      .where('company_id', '=', company_id)
      .where('subscription_id', '=', subscription_id)
      .execute();
  const at = context.now();
  await auditChange(trx, editor, 'subscription.deleted', row, { before: editable(row), after, at });
  await noteChange(trx, row, 'deleted', at);
  trx.onCommit(() => askDispatcher(context, { companyId: company_id, subscriptionId: subscription_id }));
  await raiseSubscriptionsVersion(trx, [company_id]);
};

interface Removal {
  readonly row: SubscriptionRow;
  readonly editor: Pick<Editor, 'by'>;
  /** Why it was removed, for the audit log. */
  readonly after?: AuditEntry['after'];
}

export const beginImport = ({ db, now }: WebhooksContext) =>
  handler(contract.beginImport, async (call) => {
    const { companyId, body: after } = call;
    const target = { kind: 'company', id: companyId, name: 'settings' } as const;
    await writeAudit(db, {
      companyId,
      by: byMember(call),
      action: 'settings.imported',
      target,
      after,
      at: now(),
    });
    return { status: 204, body: null };
  });

/** Answers what creating the subscriptions would refuse, by their places in the file. */
export const checkSettings = ({ targets }: WebhooksContext) =>
  handler(
    contract.checkSettings,
    async ({ body }) => json(200, body),
    ({ subscriptions = [] }) =>
      subscriptions.flatMap((fields, at) =>
        [...targetProblems(targets)(fields), ...typeProblems(fields)].map((problem) => ({
          ...problem,
          field: `subscriptions[${at}].${problem.field}`,
        })),
      ),
  );

/** Every attempt checks the host again, and the address that it resolves to. */
export const targetProblems =
  ({ allowHttp, allowPrivate, ports }: TargetRules) =>
  ({ url }: { readonly url?: string | undefined }): readonly Detail[] => {
    if (url === undefined) return [];
    const target = new URL(url);
    const refused = (why: string): Detail[] => [
      { field: 'url', code: 'out_of_range', message: `invalid URL: ${why}` },
    ];
    if (target.protocol === 'http:' && !allowHttp) return refused('it must begin with https://');
    const closed = portProblem(target, deliveryPorts(ports, { allowPrivate, allowHttp }));
    if (closed) return refused(`the port is ${closed}`);
    const problem = allowPrivate ? undefined : hostProblem(target.hostname);
    return problem ? refused(`the host is ${problem}`) : [];
  };
