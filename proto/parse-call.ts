import { type Detail, invalid, type Problem } from './errors.ts';
import type { BodyOf, Operation, QueryOf } from './operation.ts';
import { readBody, readQuery, type WithBody } from './parse/read.ts';

type Parsable = Pick<Operation, 'query'> & WithBody;

/** The raw call. */
export interface Sent {
  readonly query: string;
  readonly body: Uint8Array;
  readonly params: readonly string[];
}

/** A call as far as it is right; what is absent is explained in `problems`. */
export interface CallRead<O extends Parsable> {
  readonly query: QueryOf<O> | undefined;
  readonly body: BodyOf<O> | undefined;
  /** The body's fields that are right by themselves, for further checks of a call that is refused anyway. */
  readonly rightFields: () => Partial<BodyOf<O>>;
  readonly problems: readonly Detail[];
  /** Further fields for the body of the answer. */
  readonly extra: Problem['extra'];
}

/**
 * The typed query and body of a call.
 * @param more what else is wrong with the body's fields that are right by their schema.
 * @throws Problem `invalid_request` with everything that is wrong with either.
 */
export const parseCall = <O extends Parsable>(
  operation: O,
  sent: Sent,
  more: (fields: Partial<BodyOf<O>>) => readonly Detail[] = () => [],
): { readonly query: QueryOf<O>; readonly body: BodyOf<O> } => {
  const { query, body, problems, extra, rightFields } = readCall(operation, sent);
  const all = [...problems, ...more(rightFields())];
  if (query === undefined || body === undefined || all.length > 0) throw invalid(all, extra);
  return { query, body };
};

/** The same for whoever has more to say than what is wrong with the query and the body. */
export const readCall = <O extends Parsable>(operation: O, sent: Sent): CallRead<O> => {
  const query = readQuery(operation, sent.query);
  const body = readBody(operation, sent.body, sent.params);
  const extra = body.extra || query.extra ? { ...body.extra, ...query.extra } : undefined;
  return {
    query: query.value,
    body: body.value,
    rightFields: body.right,
    problems: [...query.problems, ...body.problems],
    extra,
  };
};
