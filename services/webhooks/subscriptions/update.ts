import { isDeepStrictEqual } from 'node:util';
import { raiseSubscriptionsVersion, type SubscriptionRow } from '@causeway/deliveries';
import { assertUnchanged } from '@causeway/identity';
import {
  type BodyOf,
  conditionProblems,
  type contract,
  definitions,
  changes as differences,
  hasReadOnly,
  invalid,
  stateConflict,
  unverifiedReason,
  updateProblems,
} from '@causeway/proto';
import { type Answer, handler, json, type OperationCall, type Trx } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { askDispatcher } from '../ask.ts';
import { auditChange, editable } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { assertEditable, disabledThrough, type Editor, editorOf, noteChange, switchedOn } from './editor.ts';
import { noteMissedWhileOff } from './missed.ts';
import { shownTo } from './read.ts';
import {
  findSubscription,
  lockSubscription,
  readSubscription,
  type SubscriptionRecord,
  subscriptionAnswer,
} from './record.ts';
import { assertHeadersGiven, pausedBy, ruleColumns, rulesAnswer, typeProblems } from './rules.ts';
import { verifiesEndpoints, verifyEndpoint } from './verification.ts';
import { targetProblems } from './write.ts';

export const updateSubscription = (context: WebhooksContext) =>
  handler(
    definitions.updateSubscription,
    (call) => {
      if (call.audience === 'key') return changeSubscription(context, call, call.body);
      const { basedOn, ...changes } = call.body;
      return changeSubscription(context, call, changes, basedOn);
    },
    (fields) => [...targetProblems(context.targets)(fields), ...typeProblems(fields)],
  );

type ChangingCall = OperationCall<typeof definitions.updateSubscription>;

type Changes = BodyOf<(typeof contract)['updateSubscription']>;
/** The values that the caller knew of the fields to change. */
type KnownFields = NonNullable<BodyOf<(typeof contract)['updatePortalSubscription']>['basedOn']>;

/**
 * A dispatcher holds the waiting deliveries after disabling, and resets the consecutive failures after
 * enabling. Held deliveries stay held until released or dropped. A receiver that must be verified gets a
 * challenge: before a change that enables the subscription, after one that changes its URL (contract,
 * "Endpoint verification").
 * @throws Problem
 */
const changeSubscription = async (
  context: WebhooksContext,
  call: ChangingCall,
  changes: Changes,
  basedOn: KnownFields = {},
): Promise<Answer> => {
  const { companyId, identity } = call;
  const editor = editorOf(call);
  const subscriptionId = call.id('subscription');
  const answerOf = async (record: SubscriptionRecord, db: Kysely<Tables>) =>
    json(200, await shownTo(call, { ...context, db }, record));
  const earlier = await context.once.find(identity);
  if (earlier) return earlier;
  const isVerified = changes.enabled === true && (await verifyIfNeeded(context, call, changes));
  let changed: Changed | undefined;
  const answer = await context.once.carryOut(identity, async (trx) => {
    const before = await lockSubscription(trx, companyId, subscriptionId);
    // The precondition was checked before verification, which has changed the record.
    if (!isVerified) assertAllowed(await readSubscription(trx, companyId, subscriptionId), editor, changes);
    // Headers merge by name, so the names that the caller knew are compared, and not the changes.
    assertUnchanged(
      'subscription',
      shownFields(before),
      { ...changes, headerNames: changes.headers },
      basedOn,
    );
    const now = context.now();
    const isUnverified = isMoved(before, changes) && (await verifiesEndpoints(trx, companyId));
    if (changes.enabled === true && before.verification !== null && !isMoved(before, changes))
      throw stateConflict('the subscription was changed while its receiver was being verified; try again');
    const switches = enabledColumns(before, changes, { editor, now, isUnverified });
    const fields = {
      ...(changes.url !== undefined && { url: changes.url }),
      ...(changes.eventTypes !== undefined && { event_types: JSON.stringify(changes.eventTypes) }),
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.description !== undefined && { description: changes.description }),
      ...ruleColumns(context, companyId, changes, before),
      ...pausedBy(before, changes, { editor, now }),
      ...switches,
    };
    assertConditions(before, changes);
    assertHeadersGiven(before, changes);
    const stored = storedForm(before);
    const isChange = !isDeepStrictEqual({ ...stored, ...fields }, stored);
    await trx
      .updateTable('subscriptions')
      .set({
        ...fields,
        updated_utc: isChange ? now : before.updated_utc,
      })
      .where('company_id', '=', companyId)
      .where('subscription_id', '=', subscriptionId)
      .execute();
    const isSwitched = (switches.enabled ?? before.enabled) !== before.enabled;
    const isThrottled = (['paused_utc', 'pace_limit', 'pace_seconds'] as const).some(
      (name) => name in fields && fields[name] !== before[name],
    );
    // A member who enables a failing subscription again wants its next attempt now.
    const isTried = call.audience === 'member' && changes.enabled === true && before.enabled === 1;
    const noted = [
      ...(isMoved(before, changes) ? (['moved'] as const) : []),
      ...(isSwitched ? ([switches.enabled === 1 ? 'enabled' : 'disabled'] as const) : []),
      ...(isThrottled || isTried ? (['throttled'] as const) : []),
    ];
    const isNoted = noted.length > 0;
    for (const what of noted) await noteChange(trx, before, what, now);
    if (isSwitched && switches.enabled === 1) await noteMissedWhileOff(trx, before, now);
    const after = await readSubscription(trx, companyId, subscriptionId);
    await note(trx, editor, before, after, { at: now, hasNewHeaders: changes.headers != null });
    changed = { after, isUnverified, isNoted, answer: await answerOf(after, trx) };
    await raiseSubscriptionsVersion(trx, [companyId]);
    return changed.answer;
  });
  // Otherwise an earlier sending has made the change.
  if (changed?.answer !== answer) return answer;
  if (changed.isUnverified && changed.after.verification === 'pending')
    context.challenges.send(editor, changed.after);
  if (!changed.isNoted) return answer;
  await askDispatcher(context, { companyId, subscriptionId });
  // The record as this change left it, since an echo may have enabled it meanwhile, with what the dispatcher has held.
  const now = await findSubscription(context.db, companyId, subscriptionId);
  if (!now) return answer;
  return answerOf({ ...changed.after, held_deliveries: now.held_deliveries }, context.db);
};

interface Changed {
  readonly after: SubscriptionRecord;
  readonly isUnverified: boolean;
  /** A dispatcher has to apply it. */
  readonly isNoted: boolean;
  readonly answer: Answer;
}

/** @returns whether verification was needed. @throws Problem `state_conflict` if there is no echo. */
const verifyIfNeeded = async (
  context: WebhooksContext,
  call: ChangingCall,
  changes: Changes,
): Promise<boolean> => {
  const editor = editorOf(call);
  const before = await readSubscription(context.db, call.companyId, call.id('subscription'));
  if (before.verification === null || isMoved(before, changes)) return false;
  assertAllowed(before, editor, changes);
  const failure = await verifyEndpoint(context, editor, before, call.deadlineMs);
  if (failure !== null) throw stateConflict(`endpoint verification failed: ${failure}`);
  return true;
};

/** @throws Problem `tool_managed`, or `invalid_request` (`updateProblems`). */
const assertAllowed = (before: SubscriptionRecord, editor: Editor, changes: Changes): void => {
  assertEditable(before, editor, Object.keys(changes));
  if (!hasReadOnly(changes)) return;
  const problems = updateProblems(changes, subscriptionAnswer(before));
  if (problems.length > 0) throw invalid(problems);
};

/** What the forms of members show. */
const shownFields = (row: SubscriptionRow) => {
  const { conditions = null, pace = null, paused = false, headerNames = [] } = rulesAnswer(row);
  return { ...editable(row), conditions, pace, paused, headerNames };
};

const isMoved = (before: Pick<SubscriptionRow, 'url'>, { url }: Changes): boolean =>
  url !== undefined && url !== before.url;

/** Disabling and enabling are actions of their own; no entry if nothing changed. */
const note = async (
  trx: Trx<Tables>,
  editor: Editor,
  before: SubscriptionRow,
  after: SubscriptionRecord,
  { at, hasNewHeaders }: { readonly at: Date; readonly hasNewHeaders: boolean },
): Promise<void> => {
  // The values of headers are secret, so the log tells only that they are new.
  const values = hasNewHeaders ? { headerValues: 'replaced' } : {};
  const changed = differences(editable(before), { ...editable(after), ...values });
  if (Object.keys(changed.after).length === 0) return;
  const switchedOnly = Object.keys(changed.after).every((name) => name === 'enabled');
  const action = !switchedOnly
    ? 'subscription.changed'
    : after.enabled === 1
      ? 'subscription.enabled'
      : 'subscription.disabled';
  await auditChange(trx, editor, action, after, { ...changed, at });
};

/** @throws Problem `invalid_request` if conditions that stay name a field that the new types do not have, or the reverse */
const assertConditions = (before: SubscriptionRow, changes: Changes): void => {
  const { eventTypes = before.event_types, conditions = before.conditions } = changes;
  const problems = conditionProblems(eventTypes, conditions);
  if (problems.length > 0) throw invalid(problems);
};

const storedForm = (row: SubscriptionRow) => ({
  ...row,
  event_types: JSON.stringify(row.event_types),
  conditions: row.conditions && JSON.stringify(row.conditions),
  header_names: row.header_names && JSON.stringify(row.header_names),
});

/** If the subscription was already disabled, the reason and time stay. */
const enabledColumns = (
  before: SubscriptionRow,
  { enabled }: Changes,
  {
    editor,
    now,
    isUnverified,
  }: { readonly editor: Editor; readonly now: Date; readonly isUnverified: boolean },
): Switched => {
  const wasWanted: boolean = before.enabled === 1 || before.verification === 'pending';
  const disabledColumns = (disabled_reason: string) => ({
    enabled: 0,
    disabled_reason,
    disabled_utc: now,
    auto_disabled: 0,
  });
  if (isUnverified) {
    const unchallenged = { challenged_utc: null, challenge_failure: null };
    if (enabled ?? wasWanted)
      return { ...disabledColumns(unverifiedReason), ...unchallenged, verification: 'pending' };
    return {
      ...(wasWanted ? disabledColumns(disabledThrough(editor)) : {}),
      ...unchallenged,
      verification: 'required',
    };
  }
  if (enabled === true) return switchedOn;
  if (enabled === false && wasWanted)
    return {
      ...disabledColumns(disabledThrough(editor)),
      ...(before.verification !== null && { verification: 'required' }),
    };
  return {};
};

type Switched = Partial<
  Pick<
    SubscriptionRow,
    | 'enabled'
    | 'disabled_reason'
    | 'disabled_utc'
    | 'auto_disabled'
    | 'expires_utc'
    | 'verification'
    | 'challenged_utc'
    | 'challenge_failure'
  >
>;
