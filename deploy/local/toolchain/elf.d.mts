/** @param inherited its libraries look in `folder` for theirs, too. */
export declare function rebind(
  program: Buffer,
  options: { readonly loader: string; readonly folder: string; readonly inherited?: boolean },
): Buffer;
