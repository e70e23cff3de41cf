import type { HttpOperation } from '@causeway/proto';
import type { LaneAnswer, LaneCall } from '@causeway/runtime';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';

/** Sends a request to the service of its operation. @throws LaneError */
export const callService = (
  { lanes }: Pick<Gateway, 'lanes'>,
  { requestId, traceparent, head }: Exchange,
  { operation, params }: { readonly operation: HttpOperation; readonly params: readonly string[] },
  caller: Pick<LaneCall, 'tenant' | 'caller' | 'key' | 'actor'>,
  body: Buffer,
): Promise<LaneAnswer> =>
  lanes[operation.service].request({
    operation: operation.id,
    requestId,
    traceparent,
    budgetMs: operation.deadlineMs,
    repeatable: operation.method === 'GET',
    params,
    query: head.query,
    body,
    ...caller,
  });
