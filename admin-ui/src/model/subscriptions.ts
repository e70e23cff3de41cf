import { failuresUntilProbing } from '@causeway/proto/delivery-states';
import { hasWords } from '../ui/format.ts';
import type { Tone } from '../ui/values.tsx';
import type { Answer } from './client.ts';

export type Subscription = Answer<'getPortalSubscription'>;
export type EventType = Subscription['eventTypes'][number];

export const nameOf = (subscription: { readonly name: string | null; readonly url: string }): string =>
  subscription.name ?? shortUrl(subscription.url);

export const shortUrl = (url: string): string => url.replace(/^https?:\/\//i, '').replace(/\/$/, '');

export const isAutoDisabled = ({ enabled, autoDisabled }: Subscription): boolean => !enabled && autoDisabled;

/** Whether deliveries are held, or events were missed, though it is enabled. */
export const isUndecided = ({ enabled, health, missed }: Subscription): boolean =>
  enabled && (health.held > 0 || missed !== null);

export const stateOf = (subscription: Subscription): { readonly tone: Tone; readonly label: string } => {
  const { verification, enabled, paused, consecutiveFailures, health } = subscription;
  if (verification?.state === 'pending') return { tone: 'warn', label: 'Waiting for verification' };
  if (isAutoDisabled(subscription)) return { tone: 'bad', label: 'Auto-disabled' };
  if (!enabled) return { tone: 'neutral', label: 'Disabled' };
  if (paused) return { tone: 'warn', label: 'Paused' };
  if (consecutiveFailures >= failuresUntilProbing) return { tone: 'bad', label: 'Failing' };
  if (consecutiveFailures > 0) return { tone: 'warn', label: 'Recent failures' };
  const { succeeded24h: succeeded, failed24h: failed } = health;
  // It was enabled after failures, and has not been attempted since.
  if (failed > 0 && succeeded === 0) return { tone: 'warn', label: 'No success yet' };
  if (failed > partlyFailing * (succeeded + failed)) return { tone: 'warn', label: 'Partly failing' };
  return { tone: 'good', label: 'Enabled' };
};

/** The share of failed attempts above which it is not called healthy, though the last attempt succeeded. */
const partlyFailing = 0.1;

export const managedReason = ({ managedBy }: Subscription): string | undefined =>
  managedBy === null ? undefined : `${managedBy} manages this subscription; change it there`;

const subscriptionStates = ['off', 'failing', 'unverified', 'disabled', 'enabled'] as const;
type SubscriptionState = (typeof subscriptionStates)[number];

export const subscriptionFilters = [...subscriptionStates, 'undecided'] as const;
export type SubscriptionFilter = (typeof subscriptionFilters)[number];

export const matches = (one: Subscription, filter: SubscriptionFilter): boolean =>
  filter === 'undecided' ? isUndecided(one) : listedState(one) === filter;

export const subscriptionSorts = ['trouble', 'name', 'newest', 'busiest'] as const;
export type SubscriptionSort = (typeof subscriptionSorts)[number];

const listedState = (one: Subscription): SubscriptionState => {
  if (one.verification?.state === 'pending') return 'unverified';
  if (isAutoDisabled(one)) return 'off';
  if (!one.enabled) return 'disabled';
  return stateOf(one).tone === 'good' ? 'enabled' : 'failing';
};

interface SubscriptionSearch {
  readonly q?: string | undefined;
  readonly state?: SubscriptionFilter | undefined;
  readonly sort?: SubscriptionSort | undefined;
}

export const listSubscriptions = (
  all: readonly Subscription[],
  { q = '', state, sort = 'trouble' }: SubscriptionSearch,
): readonly Subscription[] =>
  all
    .filter((one) => state === undefined || matches(one, state))
    .filter((one) =>
      hasWords(`${one.name ?? ''} ${one.url} ${one.managedBy ?? ''} ${one.eventTypes.join(' ')}`, q),
    )
    .sort((a, b) => orders[sort](a, b) || byName(a, b));

const byName = (a: Subscription, b: Subscription): number => nameOf(a).localeCompare(nameOf(b));
const trouble: Readonly<Record<SubscriptionState, number>> = {
  off: 0,
  failing: 1,
  unverified: 2,
  enabled: 3,
  disabled: 4,
};
const attempts = ({ health }: Subscription): number => health.succeeded24h + health.failed24h;

const orders: Readonly<Record<SubscriptionSort, (a: Subscription, b: Subscription) => number>> = {
  trouble: (a, b) => trouble[listedState(a)] - trouble[listedState(b)],
  name: byName,
  newest: (a, b) => b.id - a.id,
  busiest: (a, b) => attempts(b) - attempts(a),
};
