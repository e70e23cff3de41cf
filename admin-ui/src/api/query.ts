import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import type { Input, MemberOperationId } from './types.ts';

/**
 * The query of one operation: its key is the operation's id and its input, so `[id]` invalidates every
 * variant of it.
 */
export const operationQuery = <Id extends MemberOperationId>(id: Id, input: Input<Id>) =>
  queryOptions({
    queryKey: [id, input] as const,
    queryFn: ({ signal }) => call(id, input, signal),
  });
