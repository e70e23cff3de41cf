/** Unpacks Debian packages with everything that they depend on into `target`. `work` holds the downloads. */
export declare function unpackDebian(options: {
  readonly packages: readonly string[];
  readonly target: string;
  readonly work: string;
}): Promise<void>;
