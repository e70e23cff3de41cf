import { type Detail, invalid, Problem } from './errors.ts';
import type { BodyOf, Operation, QueryOf } from './operation.ts';
import { parseBody, parseQuery } from './parse.ts';

type Parsable = Pick<Operation, 'query' | 'body' | 'params'>;

/** What a caller has sent, as it came. */
export interface Sent {
  readonly query: string;
  readonly body: Uint8Array;
  readonly params: readonly string[];
}

/** A call as far as it is right; what is absent is explained in `problems`. */
export interface CallRead<O extends Parsable> {
  readonly query: QueryOf<O> | undefined;
  readonly body: BodyOf<O> | undefined;
  readonly problems: readonly Detail[];
  /** Further fields for the body of the answer. */
  readonly extra: Problem['extra'];
}

/**
 * The typed query and body of a call.
 * @throws Problem `invalid_request` with everything that is wrong with either.
 */
export const parseCall = <O extends Parsable>(
  operation: O,
  sent: Sent,
): { readonly query: QueryOf<O>; readonly body: BodyOf<O> } => {
  const { query, body, problems, extra } = readCall(operation, sent);
  if (query === undefined || body === undefined) throw invalid(problems, extra);
  return { query, body };
};

/** The same for whoever has more to say than what is wrong with the query and the body. */
export const readCall = <O extends Parsable>(operation: O, sent: Sent): CallRead<O> => {
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
  const query = collect(() => parseQuery(operation, sent.query));
  const body = collect(() => parseBody(operation, sent.body, sent.params));
  return { query, body, problems, extra };
};
