/** Runs `work` while holding an exclusive lock on `file`. */
export function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result>;
