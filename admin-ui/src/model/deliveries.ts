import { number } from '../ui/format.ts';
import type { Tone } from '../ui/values.tsx';
import { type Answer, operationQuery } from './client.ts';
import { minutesAgo, recordParameters } from './queries.ts';
import type { deliveriesSearch } from './search.ts';

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

export type DeliverySearch = Omit<ReturnType<typeof deliveriesSearch>, 'view'>;

export const periods = [
  { value: '15m', label: 'Last 15 minutes', minutes: 15 },
  { value: '1h', label: 'Last hour', minutes: 60 },
  { value: '24h', label: 'Last 24 hours', minutes: 1440 },
  { value: '7d', label: 'Last 7 days', minutes: 10_080 },
] as const;

export const sinceOf = ({ period, since }: Pick<DeliverySearch, 'period' | 'since'>): string | undefined => {
  const chosen = periods.find(({ value }) => value === period);
  return chosen ? minutesAgo(chosen.minutes) : since;
};

const filtersOf = (search: DeliverySearch) => ({
  subscriptionId: search.subscription,
  ...recordParameters(search),
  eventId: search.event,
  replayId: search.replay,
  type: search.type,
  statusCode: search.status,
  errorClass: search.cause,
  since: sinceOf(search),
  until: search.until,
});

export const deliveriesQuery = (search: DeliverySearch, limit = 50) =>
  operationQuery('listDeliveries', {
    query: { ...filtersOf(search), limit, state: search.state, cursor: search.cursor },
  });

export const countsQuery = (search: DeliverySearch) =>
  operationQuery('countDeliveries', { query: filtersOf(search) });

export const causesQuery = { ...operationQuery('listFailureCauses', {}), refetchInterval: 30_000 };

export const countText = ({ count, isMore }: { readonly count: number; readonly isMore: boolean }): string =>
  `${number(count)}${isMore ? '+' : ''}`;

export interface DeliveryName {
  readonly event: number;
  readonly subscription: number;
  readonly replay: number;
}

/** Of a delivery's id, such as `1042-7-0`. */
export const deliveryNameOf = (id: string): DeliveryName => {
  const [event = 0, subscription = 0, replay = 0] = id.split('-').map(Number);
  return { event, subscription, replay };
};

export const deliveryParams = ({ event, subscription, replay }: DeliveryName) => ({
  eventId: event,
  subscriptionId: subscription,
  replayId: replay,
});

export const deliveryQuery = (name: DeliveryName) =>
  operationQuery('getDelivery', { params: deliveryParams(name) });

/** An attempt never changes. */
export const attemptQuery = (name: DeliveryName, attempt: number, as?: 'viewer') => ({
  ...operationQuery('getAttempt', { params: { ...deliveryParams(name), attempt }, query: { as } }),
  staleTime: Number.POSITIVE_INFINITY,
});
