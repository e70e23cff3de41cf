import { failuresUntilProbing } from '@causeway/proto/delivery-states';
import type { Answer } from '../../api/types.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Subscription = Answer<'getPortalSubscription'>;
export type EventType = Subscription['eventTypes'][number];

export const nameOf = (subscription: { readonly name: string | null; readonly url: string }): string =>
  subscription.name ?? shortUrl(subscription.url);

/** The URL without its scheme. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//i, '').replace(/\/$/, '');

/** Whether the service disabled it, not a person. */
export const isAutoDisabled = ({ enabled, autoDisabled }: Subscription): boolean => !enabled && autoDisabled;

/** Its health as a badge. */
export const stateOf = (subscription: Subscription): { readonly tone: Tone; readonly label: string } => {
  if (subscription.verification?.state === 'pending')
    return { tone: 'warn', label: 'Waiting for verification' };
  if (isAutoDisabled(subscription)) return { tone: 'bad', label: 'Auto-disabled' };
  if (!subscription.enabled) return { tone: 'neutral', label: 'Disabled' };
  if (subscription.consecutiveFailures >= failuresUntilProbing) return { tone: 'bad', label: 'Failing' };
  if (subscription.consecutiveFailures > 0) return { tone: 'warn', label: 'Recent failures' };
  const { succeeded24h, failed24h } = subscription.health;
  if (isPartlyFailing(succeeded24h, failed24h)) return { tone: 'warn', label: 'Partly failing' };
  return { tone: 'good', label: 'Enabled' };
};

/** Whether so many attempts failed that a subscription is not called healthy, though the last one succeeded. */
export const isPartlyFailing = (succeeded: number, failed: number): boolean =>
  failed > partlyFailing * (succeeded + failed);

const partlyFailing = 0.1;

/** Why a subscription that a tool manages cannot be edited here. */
export const managedReason = ({ managedBy }: Subscription): string | undefined =>
  managedBy === null ? undefined : `${managedBy} manages this subscription; change it there`;
