/** The Node of the npm package, which may not be installed. */
export declare function packagedNode(root: string): string;
