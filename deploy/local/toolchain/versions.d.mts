export declare function findProgram(names: string | readonly string[], like?: string): Promise<string | null>;
