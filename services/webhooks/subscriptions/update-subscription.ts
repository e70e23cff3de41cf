import {
  type BodyOf,
  contract,
  hasReadOnly,
  invalid,
  parseCall,
  parseId,
  readOnlyProblems,
  type SubscriptionRow,
} from '@causeway/proto';
import { changes as differences, each, type Handler, json, type Trx, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { disabledThrough } from './create-subscription.ts';
import { assertEditable, type Editor, throughApi } from './editor.ts';
import { holdWaiting } from './hold-waiting.ts';
import { editable, noteChange } from './note-change.ts';
import { lockSubscription, readSubscription, type SubscriptionRecord, subscriptionAnswer } from './record.ts';
import { assertTarget, targetProblems } from './target.ts';

export const updateSubscription = (context: WebhooksContext): Handler =>
  each(async (call) => {
    const { body } = parseCall(contract.updateSubscription, call, targetProblems(context.targets));
    const id = parseId(call.params[0], 'subscription');
    return json(
      200,
      subscriptionAnswer(await changeSubscription(context, throughApi(call), call.tenant, id, body)),
    );
  });

type Changes = BodyOf<(typeof contract)['updateSubscription']>;

/**
 * Changes what was sent. Switched off, what waits is held in the same transaction; switched on, its failures
 * are forgotten, and what is held stays held until it is released or dropped.
 * @throws Problem
 */
export const changeSubscription = (
  context: WebhooksContext,
  editor: Editor,
  companyId: number,
  subscriptionId: number,
  changes: Changes,
): Promise<SubscriptionRecord> => {
  if (changes.url !== undefined) assertTarget(context.targets, changes.url);
  return transaction(context.db, async (trx) => {
    const before = await lockSubscription(trx, companyId, subscriptionId);
    assertEditable(before, editor, Object.keys(changes));
    if (hasReadOnly(changes)) {
      const shown = subscriptionAnswer(await readSubscription(trx, companyId, subscriptionId));
      const problems = readOnlyProblems(changes, shown);
      if (problems.length > 0) throw invalid(problems);
    }
    const now = context.now();
    await trx
      .updateTable('subscriptions')
      .set({
        ...(changes.url !== undefined && { url: changes.url }),
        ...(changes.eventTypes !== undefined && { event_types: JSON.stringify(changes.eventTypes) }),
        ...(changes.name !== undefined && { name: changes.name }),
        ...(changes.description !== undefined && { description: changes.description }),
        ...switched(before, changes, editor, now),
        updated_utc: now,
      })
      .where('company_id', '=', companyId)
      .where('subscription_id', '=', subscriptionId)
      .execute();
    if (changes.enabled === false && before.enabled === 1) await holdWaiting(trx, before, now);
    if (changes.enabled === true && before.enabled === 0)
      await trx
        .updateTable('delivery_queues')
        .set({ consecutive_failures: 0, next_due_utc: now })
        .where('company_id', '=', companyId)
        .where('subscription_id', '=', subscriptionId)
        .execute();
    const after = await readSubscription(trx, companyId, subscriptionId);
    await note(trx, editor, before, after, now);
    return after;
  });
};

/** Switching it off or on is a change of its own; what changed nothing is not told. */
const note = async (
  trx: Trx<Tables>,
  editor: Editor,
  before: SubscriptionRow,
  after: SubscriptionRecord,
  at: Date,
): Promise<void> => {
  const changed = differences(editable(before), editable(after));
  if (Object.keys(changed.after).length === 0) return;
  const switchedOnly = Object.keys(changed.after).every((name) => name === 'enabled');
  const action = !switchedOnly
    ? 'subscription.changed'
    : after.enabled === 1
      ? 'subscription.enabled'
      : 'subscription.disabled';
  await noteChange(trx, editor, action, after, { ...changed, at });
};

/** Why and since when one is off stays as it is where it was off before. */
const switched = (before: SubscriptionRow, { enabled }: Changes, editor: Editor, now: Date) => {
  if (enabled === true) return { enabled: 1, disabled_reason: null, disabled_utc: null, auto_disabled: 0 };
  if (enabled === false && before.enabled === 1)
    return { enabled: 0, disabled_reason: disabledThrough(editor), disabled_utc: now };
  return {};
};
