/**
 * Takes the first of some rows that no other process has taken meanwhile. A poller reads them without locks and locks
 * one by its key: a transaction that locks whichever row of any company is due would touch several shards.
 * @param take resolves to undefined if the row is gone or locked.
 */
export const takeFirst = async <Key, Taken>(
  keys: readonly Key[],
  take: (key: Key) => Promise<Taken | undefined>,
): Promise<Taken | undefined> => {
  for (const key of keys) {
    const taken = await take(key);
    if (taken !== undefined) return taken;
  }
  return undefined;
};

/** How many rows a poller reads: more than there are processes that take them at the same time. */
export const candidates = 16;
