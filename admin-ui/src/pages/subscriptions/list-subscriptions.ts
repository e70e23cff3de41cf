import { isAutoDisabled, isUndecided, nameOf, type Subscription, stateOf } from './state.ts';

const subscriptionStates = ['off', 'failing', 'unverified', 'disabled', 'enabled'] as const;
type SubscriptionState = (typeof subscriptionStates)[number];

/** Beside their state, subscriptions are found by what waits for a decision. */
export const subscriptionFilters = [...subscriptionStates, 'undecided'] as const;
export type SubscriptionFilter = (typeof subscriptionFilters)[number];

export const matches = (one: Subscription, filter: SubscriptionFilter): boolean =>
  filter === 'undecided' ? isUndecided(one) : listedState(one) === filter;

export const subscriptionSorts = ['trouble', 'name', 'newest', 'busiest'] as const;
export type SubscriptionSort = (typeof subscriptionSorts)[number];

/** The one state that a subscription is listed under. */
const listedState = (one: Subscription): SubscriptionState => {
  if (one.verification?.state === 'pending') return 'unverified';
  if (isAutoDisabled(one)) return 'off';
  if (!one.enabled) return 'disabled';
  return stateOf(one).tone === 'good' ? 'enabled' : 'failing';
};

interface Wanted {
  readonly q?: string | undefined;
  readonly state?: SubscriptionFilter | undefined;
  readonly sort?: SubscriptionSort | undefined;
}

/** The subscriptions that match, those in trouble first unless another order is chosen. */
export const listSubscriptions = (
  all: readonly Subscription[],
  { q = '', state, sort = 'trouble' }: Wanted,
): readonly Subscription[] => {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .filter((one) => {
      if (state !== undefined && !matches(one, state)) return false;
      const text =
        `${one.name ?? ''} ${one.url} ${one.managedBy ?? ''} ${one.eventTypes.join(' ')}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => orders[sort](a, b) || byName(a, b));
};

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
