import type { Answer } from '../../api/types.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Subscription = Answer<'getPortalSubscription'>;
export type EventType = Subscription['eventTypes'][number];

export const nameOf = (subscription: { readonly name: string | null; readonly url: string }): string =>
  subscription.name ?? shortUrl(subscription.url);

/** Without the scheme, which says little. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//i, '').replace(/\/$/, '');

/** Whether it was switched off by the service, not by a person. */
export const isAutoDisabled = ({ enabled, autoDisabled }: Subscription): boolean => !enabled && autoDisabled;

/** How it fares, in a word. From five failures in a row on, it gets one attempt at a time. */
export const stateOf = (subscription: Subscription): { readonly tone: Tone; readonly label: string } => {
  if (subscription.verification?.state === 'pending')
    return { tone: 'warn', label: 'Waiting for verification' };
  if (isAutoDisabled(subscription)) return { tone: 'bad', label: 'Switched off' };
  if (!subscription.enabled) return { tone: 'neutral', label: 'Off' };
  if (subscription.consecutiveFailures >= 5) return { tone: 'bad', label: 'Failing' };
  if (subscription.consecutiveFailures > 0) return { tone: 'warn', label: 'Has trouble' };
  return { tone: 'good', label: 'On' };
};

/** Why a person cannot edit what a tool manages. */
export const managedReason = ({ managedBy }: Subscription): string | undefined =>
  managedBy === null ? undefined : `${managedBy} manages this subscription; change it there`;
