/** What becomes of a delivery. Only a waiting one is ever tried. */
export const deliveryStates = ['waiting', 'held', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * Why an attempt failed. `status` is an answer other than 2xx or 3xx; `redirect` a 3xx, which is not followed;
 * `blocked_address` a target that resolves to an address that is not to be reached; `connect` a connection that
 * never was: refused, or nobody there; `reset` one that ended, or spoke something else than HTTP.
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

/** Upper bounds in milliseconds of the histogram columns of `delivery_minutes`. */
export const elapsedBoundsMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** From so many failed attempts in a row on, a subscription gets one attempt at a time (decisions). */
export const failuresUntilProbing = 5;
/** So many switch it off (specification, "Delivery rules"). */
export const failuresUntilDisabled = 20;
