export interface Measurement<Value> {
  set(value: Value): void;
  read(): Value | undefined;
}

/** Holds a result until it is too old: a gauge must not keep its last value while its measurement fails. */
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
