import type { Answer } from '../../api/client.ts';
import type { Tone } from '../../ui/badge.tsx';

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

/** The choices of the log's filter. */
export const deliveryFilters = [
  { value: 'undelivered', label: 'Tried, not delivered' },
  ...deliveryStates,
] as const;

/** A delivery's state as a badge. The tone tells that a pending delivery failed before. */
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
