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

/** The valid parts of a call; `problems` explains what is absent. */
interface CallRead<O extends Parsable> {
  readonly query: QueryOf<O> | undefined;
  readonly body: BodyOf<O> | undefined;
  /** The valid fields of the body, for further checks before the call is refused. */
  readonly validFields: () => Partial<BodyOf<O>>;
  readonly problems: readonly Detail[];
  /** Additional fields for the body of the answer. */
  readonly extra: Problem['extra'];
}

/**
 * The typed query and body of a call.
 * @param more finds further problems in the valid fields of the body.
 * @throws Problem `invalid_request` with all problems of both.
 */
export const parseCall = <O extends Parsable>(
  operation: O,
  sent: Sent,
  more: (fields: Partial<BodyOf<O>>) => readonly Detail[] = () => [],
): { readonly query: QueryOf<O>; readonly body: BodyOf<O> } => {
  const { query, body, problems, extra, validFields } = readCall(operation, sent);
  const all = [...problems, ...more(validFields())];
  if (query === undefined || body === undefined || all.length > 0) throw invalid(all, extra);
  return { query, body };
};

/** Reads query and body like `parseCall`, for callers that add problems of their own. */
export const readCall = <O extends Parsable>(operation: O, sent: Sent): CallRead<O> => {
  const query = readQuery(operation, sent.query);
  const body = readBody(operation, sent.body, sent.params);
  const extra = body.extra || query.extra ? { ...body.extra, ...query.extra } : undefined;
  return {
    query: query.value,
    body: body.value,
    validFields: body.valid,
    problems: [...query.problems, ...body.problems],
    extra,
  };
};
