import { type HttpOperation, invalidField, Problem, problem, repeatOf } from '@causeway/proto';
import { type LaneAnswer, type LaneCall, LaneError, randomHex } from '@causeway/runtime';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { CountError } from './limits/counter.ts';

export const problemOf = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof CountError) return problem('lock_timeout', error);
  if (error instanceof LaneError) return problem(laneProblems[error.code], error);
  return problem('internal_error', error);
};

const laneProblems = {
  absent: 'service_unavailable',
  disconnected: 'service_unavailable',
  overloaded: 'service_unavailable',
  closed: 'service_unavailable',
  timeout: 'timeout',
  too_large: 'payload_too_large',
} as const satisfies Record<LaneError['code'], string>;

/** The portal takes only JSON: another site's form cannot send it without a CORS preflight. */
export const invalidContentType = (): Problem =>
  invalidField('Content-Type', 'Content-Type must be application/json');

export const invalidIdempotencyKey = (): Problem =>
  invalidField(
    'Idempotency-Key',
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces, commas, quotes and backslashes',
  );

export const invalidHost = (): Problem =>
  new Problem({ code: 'invalid_request', publicMessage: 'the Host header is not valid' });

/** The sealed answer (`writeAnswer`) would be held in memory whole, and no client needs to send a body. */
export const pageWithChunks = (): Problem =>
  new Problem({ code: 'invalid_request', publicMessage: 'a page takes no body' });

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

/** Begins with the time in milliseconds, so that rows are inserted in the order of their index. */
const newCallId = (): string => Date.now().toString(16).padStart(12, '0') + randomHex(10);
