/** The states of a delivery. Only waiting deliveries are attempted. */
export const deliveryStates = ['waiting', 'held', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * Why an attempt failed. `status` is an answer other than 2xx or 3xx; `redirect` a 3xx, which is not followed;
 * `connect` a connection that was refused or not answered; `reset` one that ended early, or did not speak HTTP.
 * `dns`: the host name does not resolve to an address that deliveries can go to. `blocked_address`: the URL itself,
 * by its host, scheme or port, is not delivered to.
 */
export const errorClasses = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'reset',
  'redirect',
  'blocked_address',
  'status',
] as const;
export type ErrorClass = (typeof errorClasses)[number];

/**
 * The sentence of class `dns` for a name that does not exist, has no address, or resolves to a blocked address.
 * All three read the same: otherwise test deliveries would tell a tenant which names exist in the private network.
 */
export const unresolvedHost = (host: string): string =>
  `The host ${host} does not resolve to an address that deliveries can go to.`;

/**
 * After deliveries were held, their rows are counted so much later: attempts that were under way have ended by then.
 * Longer than the lease of an attempt.
 */
export const countHeldAfterMs = 60_000;

/** Upper bounds in milliseconds of the histogram columns of `delivery_minutes`. */
export const elapsedBoundsMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** From so many failed attempts in a row on, a subscription gets one attempt at a time (contract, "Auto-disable"). */
export const failuresUntilProbing = 5;
/** This many disable it (contract, "Deliveries"). */
export const failuresUntilDisabled = 20;
