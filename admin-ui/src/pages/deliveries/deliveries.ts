import { type Answer, type Input, operationQuery } from '../../api/client.ts';
import type { Tone } from '../../ui/values.tsx';

export type Delivery = Answer<'listDeliveries'>['deliveries'][number];
type DeliveryState = Delivery['state'];

const deliveryStates: readonly { readonly value: DeliveryState; readonly label: string }[] = [
  { value: 'succeeded', label: 'Delivered' },
  { value: 'waiting', label: 'Pending' },
  { value: 'held', label: 'Held' },
  { value: 'failed', label: 'Failed' },
  { value: 'dropped', label: 'Discarded' },
];

const tones: Readonly<Record<DeliveryState, Tone>> = {
  succeeded: 'good',
  waiting: 'info',
  held: 'warn',
  failed: 'bad',
  dropped: 'neutral',
};

export const deliveryFilters = [
  { value: 'undelivered', label: 'Tried, not delivered' },
  ...deliveryStates,
] as const;

/** The tone tells that a pending delivery failed before. */
export const stateOf = (delivery: Pick<Delivery, 'state' | 'attempts'>): { tone: Tone; label: string } => {
  const known = deliveryStates.find((one) => one.value === delivery.state);
  const tone = delivery.state === 'waiting' && delivery.attempts > 0 ? 'warn' : tones[delivery.state];
  return { tone, label: known?.label ?? delivery.state };
};

/** A due delivery is not attempted before the next probe of its failing subscription. @returns when that is. */
export const nextProbeOf = ({
  state,
  dueUtc,
  subscription,
}: Pick<Delivery, 'state' | 'dueUtc' | 'subscription'>): string | null => {
  const probeUtc = subscription?.nextProbeUtc ?? null;
  if (state !== 'waiting' || dueUtc === null || probeUtc === null) return null;
  return new Date(dueUtc) < new Date(probeUtc) ? probeUtc : null;
};

export const pathOf = (delivery: Pick<Delivery, 'eventId' | 'subscriptionId' | 'replayId'>) => ({
  event: delivery.eventId,
  subscription: delivery.subscriptionId,
  replay: delivery.replayId,
});

export interface DeliverySearch {
  readonly subscription?: number | undefined;
  readonly client?: number | undefined;
  readonly invoice?: number | undefined;
  readonly event?: number | undefined;
  readonly replay?: number | undefined;
  readonly type?: string | undefined;
  readonly state?: string | undefined;
  readonly status?: number | undefined;
  readonly cause?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
}

export const deliveriesQuery = (search: DeliverySearch, limit = 50) => {
  const query: Input<'listDeliveries'>['query'] = {
    limit,
    subscriptionId: search.subscription,
    clientId: search.client,
    invoiceId: search.invoice,
    eventId: search.event,
    replayId: search.replay,
    type: search.type,
    state: search.state,
    statusCode: search.status,
    errorClass: search.cause,
    since: search.since,
    until: search.until,
    cursor: search.cursor,
  };
  return operationQuery('listDeliveries', { query });
};

export interface DeliveryName {
  readonly event: number;
  readonly subscription: number;
  readonly replay: number;
}

export const deliveryParams = ({ event, subscription, replay }: DeliveryName) => ({
  eventId: event,
  subscriptionId: subscription,
  replayId: replay,
});

export const deliveryQuery = (name: DeliveryName) =>
  operationQuery('getDelivery', { params: deliveryParams(name) });

/** An attempt never changes. */
export const attemptQuery = (name: DeliveryName, attempt: number) => ({
  ...operationQuery('getAttempt', { params: { ...deliveryParams(name), attempt } }),
  staleTime: Number.POSITIVE_INFINITY,
});
