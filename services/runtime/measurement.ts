/** The latest result of a periodic measurement. */
export interface Measurement<Value> {
  set(value: Value): void;
  /** Undefined before the first result, and from `maxAgeMs` after the latest one. */
  read(): Value | undefined;
}

/**
 * Holds a result until it is too old. A gauge that kept its last value while its measurement fails would show a healthy
 * system throughout an outage.
 */
export const createMeasurement = <Value>(
  maxAgeMs: number,
  nowMs: () => number = () => performance.now(),
): Measurement<Value> => {
  let latest: { readonly value: Value; readonly atMs: number } | undefined;
  return {
    set: (value) => {
      latest = { value, atMs: nowMs() };
    },
    read: () => (latest && nowMs() - latest.atMs < maxAgeMs ? latest.value : undefined),
  };
};
