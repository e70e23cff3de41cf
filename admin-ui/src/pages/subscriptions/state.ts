import { failuresUntilProbing } from '@causeway/proto/delivery-states';
import type { Answer } from '../../api/client.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Subscription = Answer<'getPortalSubscription'>;
export type EventType = Subscription['eventTypes'][number];

export const nameOf = (subscription: { readonly name: string | null; readonly url: string }): string =>
  subscription.name ?? shortUrl(subscription.url);

/** The URL without its scheme. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//i, '').replace(/\/$/, '');

/** Whether the service disabled it, not a person. */
export const isAutoDisabled = ({
  enabled,
  autoDisabled,
}: Pick<Subscription, 'enabled' | 'autoDisabled'>): boolean => !enabled && autoDisabled;

/** Whether deliveries are held, or events were missed, though it is enabled. */
export const isUndecided = ({ enabled, health, missed }: Subscription): boolean =>
  enabled && (health.held > 0 || missed !== null);

/** Its health as a badge. */
export const stateOf = (subscription: Subscription): StateBadge => {
  const { verification, health } = subscription;
  return stateWith({
    ...subscription,
    isUnverified: verification?.state === 'pending',
    succeeded: health.succeeded24h,
    failed: health.failed24h,
  });
};

interface StateBadge {
  readonly tone: Tone;
  readonly label: string;
}

interface StateFacts extends Pick<Subscription, 'enabled' | 'autoDisabled' | 'consecutiveFailures'> {
  readonly isUnverified: boolean;
  /** Attempts of the period that is shown. */
  readonly succeeded: number;
  readonly failed: number;
}

export const stateWith = (subscription: StateFacts): StateBadge => {
  if (subscription.isUnverified) return { tone: 'warn', label: 'Waiting for verification' };
  if (isAutoDisabled(subscription)) return { tone: 'bad', label: 'Auto-disabled' };
  if (!subscription.enabled) return { tone: 'neutral', label: 'Disabled' };
  if (subscription.consecutiveFailures >= failuresUntilProbing) return { tone: 'bad', label: 'Failing' };
  if (subscription.consecutiveFailures > 0) return { tone: 'warn', label: 'Recent failures' };
  const { succeeded, failed } = subscription;
  // It was enabled after failures, and has not been attempted since.
  if (failed > 0 && succeeded === 0) return { tone: 'warn', label: 'No success yet' };
  if (failed > partlyFailing * (succeeded + failed)) return { tone: 'warn', label: 'Partly failing' };
  return { tone: 'good', label: 'Enabled' };
};

/** The share of failed attempts above which it is not called healthy, though the last attempt succeeded. */
const partlyFailing = 0.1;

/** Why a subscription that a tool manages cannot be edited here. */
export const managedReason = ({ managedBy }: Subscription): string | undefined =>
  managedBy === null ? undefined : `${managedBy} manages this subscription; change it there`;
