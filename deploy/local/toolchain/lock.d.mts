/** Undefined if another process holds the lock. */
export function lock(file: string, ...flags: readonly string[]): Promise<(() => void) | undefined>;
/** Runs `work` while holding an exclusive lock on `file`. */
export function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result>;
