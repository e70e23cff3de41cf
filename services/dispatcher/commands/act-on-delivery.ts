import { admitWaiting, type DeliveryRow } from '@causeway/deliveries';
import { writeAudit } from '@causeway/identity';
import type { DeliveryAction } from '@causeway/proto';
import { type Database, type Trx, transaction } from '@causeway/runtime';
import type { Context } from '../context.ts';
import { addHeld, scheduleQueues } from '../queue-rows.ts';
import { addToReplays, isQueue, setState } from '../store.ts';
import type { Tables } from '../tables.ts';
import { applyFirst } from './apply-change.ts';

/** @returns why nothing changed; null if the action was carried out, with an entry in the audit log. */
export const actOnDelivery = async (
  db: Database<Tables>,
  action: DeliveryAction,
  options: ActOptions,
): Promise<string | null> => {
  try {
    // A change of the subscription is applied in transactions of its own.
    while (await transaction(db, (trx) => act(trx, action, options)));
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
};

type ActOptions = Pick<Context, 'now' | 'waitingQuota'>;

/** Undoes the transaction. */
class Refusal extends Error {}

const act = async (
  trx: Trx<Tables>,
  action: DeliveryAction,
  { now, waitingQuota }: ActOptions,
): Promise<boolean> => {
  const at = now();
  const key = { company_id: action.companyId, subscription_id: action.delivery.subscriptionId };
  if (await applyFirst(trx, key, at)) return true;
  const subscription = await trx
    .selectFrom('subscriptions')
    .select(['enabled', 'paused_utc', 'name', 'url'])
    .where(isQueue(key))
    .executeTakeFirstOrThrow(() => new Refusal('the subscription was deleted'));
  if (action.action !== 'cancel' && subscription.enabled !== 1)
    throw new Refusal('the subscription is disabled; enable it first');
  if (action.action === 'retry' && subscription.paused_utc !== null)
    throw new Refusal('the subscription is paused; resume it first');
  await steps[action.action](trx, action, { now: at, quota: waitingQuota });
  await writeAudit(trx, {
    companyId: action.companyId,
    by: action.by,
    action: actions[action.action],
    target: {
      kind: 'delivery',
      id: idOf(action),
      name: `${idOf(action)} to ${subscription.name ?? subscription.url}`,
    },
    at,
  });
  return false;
};

const actions = {
  retry: 'delivery.retried',
  cancel: 'delivery.cancelled',
  release: 'delivery.released',
} as const;

interface StepOptions {
  readonly now: Date;
  readonly quota: number;
}
type Step = (trx: Trx<Tables>, asked: DeliveryAction, options: StepOptions) => Promise<void>;

/** Refused while an attempt is under way or about to start. */
const retry: Step = async (trx, action, { now }) => {
  const row = await lockDelivery(trx, action);
  if (row.state !== 'waiting') throw new Refusal(`the delivery is not pending: it is ${row.state}`);
  const last = await trx
    .selectFrom('delivery_attempts')
    .select('next_attempt_utc')
    .where('company_id', '=', row.company_id)
    .where('event_id', '=', row.event_id)
    .where('subscription_id', '=', row.subscription_id)
    .where('replay_id', '=', row.replay_id)
    .where('created_utc', '=', row.created_utc)
    .where('attempt', '=', row.attempts)
    .executeTakeFirst();
  // Any other due time is the end of a lease, or now.
  if (!last?.next_attempt_utc || last.next_attempt_utc.getTime() !== row.due_utc?.getTime())
    throw new Refusal('an attempt is under way or about to start');
  await setState(trx, [row], { state: 'waiting', due_utc: now, updated_utc: now });
  await scheduleQueues(trx, [row], now);
};

/** The result of an attempt under way is still recorded. */
const cancel: Step = async (trx, action, { now }) => {
  const row = await lockDelivery(trx, action);
  if (row.state !== 'waiting' && row.state !== 'held')
    throw new Refusal(`the delivery has ended: it is ${row.state}`);
  await setState(trx, [row], { state: 'dropped', due_utc: null, updated_utc: now });
  if (row.state === 'held') await addHeld(trx, row, -1, now);
  await addToReplays(trx, row.company_id, [row], 'failed', 1);
};

const release: Step = async (trx, action, { now, quota }) => {
  // The company's row is locked before the deliveries.
  const delivery = { ...(await readDelivery(trx, action)), company_id: action.companyId };
  const { admitted } = await admitWaiting(trx, [delivery], { quota, now, makesRoom: false });
  if (admitted.length === 0)
    throw new Refusal(
      'the company has reached its quota of pending deliveries; release it when fewer are pending',
    );
  const row = await lockDelivery(trx, action);
  if (row.state !== 'held') throw new Refusal(`the delivery is not held: it is ${row.state}`);
  await setState(trx, [row], { state: 'waiting', due_utc: now, updated_utc: now });
  await addHeld(trx, row, -1, now);
  await scheduleQueues(trx, [row], now);
};

const steps: Readonly<Record<DeliveryAction['action'], Step>> = { retry, cancel, release };

const lockDelivery = async (trx: Trx<Tables>, action: DeliveryAction): Promise<DeliveryRow> => {
  await trx
    .selectFrom('delivery_queues')
    .select('subscription_id')
    .where('company_id', '=', action.companyId)
    .where('subscription_id', '=', action.delivery.subscriptionId)
    .forUpdate()
    .execute();
  return deliveryOf(trx, action).forUpdate().executeTakeFirstOrThrow(keptNoLonger);
};

const readDelivery = (trx: Trx<Tables>, asked: DeliveryAction): Promise<DeliveryRow> =>
  deliveryOf(trx, asked).executeTakeFirstOrThrow(keptNoLonger);

const keptNoLonger = () => new Refusal('the delivery is kept no longer');

const deliveryOf = (trx: Trx<Tables>, { companyId, delivery }: DeliveryAction) =>
  trx
    .selectFrom('deliveries')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('event_id', '=', delivery.eventId)
    .where('subscription_id', '=', delivery.subscriptionId)
    .where('replay_id', '=', delivery.replayId);

const idOf = ({ delivery }: DeliveryAction): string =>
  `${delivery.eventId}-${delivery.subscriptionId}-${delivery.replayId}`;
