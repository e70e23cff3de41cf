export declare class SetupError extends Error {}
export declare function step<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
export declare function giveUp(error: unknown): never;
