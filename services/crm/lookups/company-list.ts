import { type AnswerOf, type contract, parseQuery } from '@causeway/proto';
import { type Call, type Handler, laneHandler } from '@causeway/runtime';

/** Reads the lists of many companies in one query. A company that is not in the result has an empty list. */
export type ReadLists<Item> = (
  companyIds: readonly number[],
) => Promise<ReadonlyMap<number, readonly Item[]>>;

/**
 * A handler for a list that depends only on the company. One query answers all the calls of a batch, and each
 * company's body is serialized once. Nothing is cached between batches, so no answer is older than its request.
 */
export const companyList = <O extends ListOperation, Name extends Exclude<keyof AnswerOf<O>, 'count'>>(
  operation: O,
  name: Name & string,
  read: ReadLists<ItemOf<AnswerOf<O>[Name]>>,
): Handler<O['id']> => {
  const empty = bodyOf(name, []);
  return laneHandler(operation, (calls) => {
    const companyIds = new Set<number>();
    const accepted = calls.map(async (call: Call) => {
      parseQuery(operation, call.query);
      companyIds.add(call.tenant);
    });
    const bodies =
      companyIds.size === 0
        ? undefined
        : read([...companyIds]).then(
            (lists) => new Map([...lists].map(([companyId, items]) => [companyId, bodyOf(name, items)])),
          );
    return calls.map(async (call, at) => {
      await accepted[at];
      return { status: 200, body: (await bodies)?.get(call.tenant) ?? empty };
    });
  });
};

type ListOperation = (typeof contract)['listEmployees' | 'listAffiliates' | 'listClientStatuses'];
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

const bodyOf = (name: string, items: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ [name]: items, count: items.length }));
