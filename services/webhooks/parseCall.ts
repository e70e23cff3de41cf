import {
  type BodyOf,
  type Detail,
  invalid,
  type Operation,
  Problem,
  parseBody,
  parseQuery,
  type QueryOf,
} from '@causeway/proto';
import type { Call } from '@causeway/runtime';

type Parsed = Pick<Operation, 'query' | 'body' | 'params'>;

/**
 * The typed query and body of a call.
 * @throws Problem `invalid_request` with everything that is wrong with either.
 */
export const parseCall = <O extends Parsed>(
  operation: O,
  call: Call,
): { readonly query: QueryOf<O>; readonly body: BodyOf<O> } => {
  const problems: Detail[] = [];
  let extra: Problem['extra'];
  const collect = <Value>(read: () => Value): Value | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Problem) || !error.details) throw error;
      problems.push(...error.details);
      extra = { ...error.extra, ...extra };
      return undefined;
    }
  };
  const query = collect(() => parseQuery(operation, call.query));
  const body = collect(() => parseBody(operation, call.body, call.params));
  if (query === undefined || body === undefined) throw invalid(problems, extra);
  return { query, body };
};
