export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
