import { type Call, createSender } from './calls.ts';
import type { Interface } from './interface.generated.ts';
import { operations } from './operations.generated.ts';
import type { ClientOptions, Operation } from './options.ts';
import { createPages } from './pages.ts';

/** The operations of the interface by resource, such as `causeway.leads.create({…})`. */
export type Causeway = Interface;

/** One client serves any number of calls at once, and holds no connection open. */
export const createClient = (options: ClientOptions): Causeway => {
  const send = createSender(options);
  const methodOf =
    (operation: Operation) =>
    (...given: readonly unknown[]): unknown => {
      const call = callOf(operation, given);
      if (!operation.list) return send(call);
      return createPages(operation.list, call.query, (query) => send({ ...call, query }));
    };
  return Object.fromEntries(
    Object.entries(operations).map(([resource, methods]) => [
      resource,
      Object.fromEntries(Object.entries(methods).map(([name, row]) => [name, methodOf(row)])),
    ]),
  ) as unknown as Causeway;
};

/** Arguments are the ids of the path, then the query, the body and the options. */
const callOf = (operation: Operation, callArguments: readonly unknown[]): Call => {
  const rest = [...callArguments];
  const path = operation.path.replace(/\{\w+\}/g, () => encodeURIComponent(String(rest.shift())));
  const inputOf = (part: 'query' | 'body'): object | undefined =>
    operation.takes?.includes(part) ? ((rest.shift() ?? {}) as object) : undefined;
  return {
    operation,
    path,
    query: (inputOf('query') ?? {}) as Call['query'],
    body: inputOf('body'),
    options: (rest[0] ?? {}) as Call['options'],
  };
};
