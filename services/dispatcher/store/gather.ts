/** Gathers what is to be written, so that what comes within some milliseconds goes in one statement or transaction. */
export interface Gathered<Item> {
  add(items: readonly Item[]): void;
  /** Writes what is left; resolves when all that was added has been tried. */
  settle(): Promise<void>;
}

/** @param write called with one part after the other; one that fails does not keep the next from being tried. */
export const gather = <Item>({ gatherMs, perWrite, write, onError }: GatherOptions<Item>): Gathered<Item> => {
  let waiting: Item[] = [];
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    const all = waiting;
    waiting = [];
    if (all.length === 0) return;
    running = running.then(async () => {
      for (let at = 0; at < all.length; at += perWrite) {
        try {
          await write(all.slice(at, at + perWrite));
        } catch (error) {
          onError(error);
        }
      }
    });
  };

  return {
    add: (items) => {
      if (items.length === 0) return;
      waiting.push(...items);
      timer ??= setTimeout(flush, gatherMs);
    },
    settle: async () => {
      clearTimeout(timer);
      flush();
      await running;
    },
  };
};

export interface GatherOptions<Item> {
  readonly gatherMs: number;
  /** Items of one part at most. */
  readonly perWrite: number;
  readonly write: (part: readonly Item[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}
