/**
 * A list: `await` it for one page, or iterate over all items, whose pages are read as they are needed. With `wait` in the query
 * the iteration does not end: it reads on from the last cursor until you break, or the signal aborts.
 */
export interface Pages<Page, Item> extends PromiseLike<Page>, AsyncIterable<Item> {
  /** Page by page, for a program that stores `nextCursor`. */
  pages(): AsyncIterable<Page>;
}

interface AnyPage {
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly [list: string]: unknown;
}

export const createPages = (
  list: string,
  query: Readonly<Record<string, unknown>>,
  read: (query: Readonly<Record<string, unknown>>) => Promise<unknown>,
): Pages<AnyPage, unknown> => {
  async function* pages(): AsyncGenerator<AnyPage> {
    const follows = Number(query.wait ?? 0) > 0;
    let pageQuery = query;
    for (;;) {
      const page = (await read(pageQuery)) as AnyPage;
      yield page;
      if (page.nextCursor === null || !(page.hasMore || follows)) return;
      pageQuery = { ...query, cursor: page.nextCursor };
    }
  }
  async function* items(): AsyncGenerator<unknown> {
    for await (const page of pages()) yield* (page.entries ?? page[list]) as readonly unknown[];
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: awaiting a list gives its first page.
    then: (resolve, reject) => (read(query) as Promise<AnyPage>).then(resolve, reject),
    pages,
    [Symbol.asyncIterator]: items,
  };
};
