/** The median: the middle value, or the mean of the middle two. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
};

/** @param share 0.5 for the median, 0.99 for the 99th percentile; nearest rank. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};

/** `median (minimum–maximum)`, each formatted by `write`. */
export const withRange = (values: readonly number[], write: (value: number) => string): string =>
  `${write(median(values))} (${write(Math.min(...values))}–${write(Math.max(...values))})`;

export const whole = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
export const ratio = (value: number): string => `${value.toFixed(2)}×`;
export const millis = (value: number): string => `${value.toFixed(2)} ms`;
/** Small figures with one decimal, large ones without. */
export const micros = (value: number): string =>
  value >= 10 ? Math.round(value).toString() : value.toFixed(1);
