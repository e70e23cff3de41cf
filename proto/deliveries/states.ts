/** The states of a delivery. Only waiting deliveries are attempted. */
export const deliveryStates = ['waiting', 'held', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * Why an attempt failed. `status`: the answer was neither 2xx nor 3xx. `redirect`: a 3xx, which is not followed.
 * `connect`: the connection was refused or not answered. `reset`: it ended early, or the receiver did not speak HTTP.
 * `dns`: the host name does not resolve to an address that deliveries can go to. `blocked_address`: deliveries may
 * not go to the host, scheme or port of the URL.
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
 * The message of class `dns`, for a name that does not exist, has no address, or resolves to a blocked address. All
 * three read the same: otherwise test deliveries would tell a tenant which names exist in the private network.
 */
export const unresolvedHost = (host: string): string =>
  `The host ${host} does not resolve to an address that deliveries can go to.`;

/**
 * Delay between holding deliveries and counting them. Longer than the lease of an attempt, so that attempts under way
 * have ended by then.
 */
export const countHeldAfterMs = 60_000;

/** Upper bounds in milliseconds of the histogram columns of `delivery_minutes`. */
export const elapsedBoundsMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** From this many consecutive failures on, a subscription gets one attempt at a time (contract, "Auto-disable"). */
export const failuresUntilProbing = 5;
/** This many consecutive failures disable a subscription (contract, "Deliveries"). */
export const failuresUntilDisabled = 20;
