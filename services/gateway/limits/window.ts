/** Fixed windows, aligned to the UTC minute (contract, "Rate limits"). */
export const windowSeconds = 60;
export const windowName = '1m';

/** The window a time falls in: minutes since 1970. */
export const windowOf = (timeMs: number): number => Math.floor(timeMs / (windowSeconds * 1000));

/** When the window ends, in epoch seconds. */
export const windowEndSeconds = (window: number): number => (window + 1) * windowSeconds;
