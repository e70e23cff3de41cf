import { type HttpOperation, repeatOf } from '@causeway/proto';
import { type LaneAnswer, type LaneCall, randomHex } from '@causeway/runtime';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';

/** Sends a request to the service of its operation. @throws LaneError */
export const callService = (
  { lanes }: Pick<Gateway, 'lanes'>,
  { requestId, traceparent, head }: Exchange,
  { operation, params }: { readonly operation: HttpOperation; readonly params: readonly string[] },
  caller: Pick<LaneCall, 'tenant' | 'caller' | 'key' | 'actor' | 'idempotencyKey'>,
  body: Buffer,
): Promise<LaneAnswer> =>
  lanes[operation.service].request({
    operation: operation.id,
    requestId,
    traceparent,
    budgetMs: operation.deadlineMs,
    params,
    query: head.query,
    body,
    ...caller,
    ...sendingOf(operation),
  });

const sendingOf = (operation: HttpOperation): Pick<LaneCall, 'callId' | 'repeatable'> => {
  const repeat = repeatOf(operation);
  return { repeatable: repeat !== undefined, ...(repeat === 'once' && { callId: newCallId() }) };
};

/** Begins with the time in milliseconds, so that the rows that name calls are inserted in the order of their index. */
const newCallId = (): string => Date.now().toString(16).padStart(12, '0') + randomHex(10);
