export declare function ensureClientTypes(root: string, node: string): Promise<void>;
