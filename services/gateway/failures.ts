import { invalidField, Problem, problem } from '@causeway/proto';
import { LaneError } from '@causeway/runtime';
import { CountError } from './limits/counter.ts';

export const problemOf = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof CountError) return problem('lock_timeout', error);
  if (error instanceof LaneError && error.code === 'too_large') return tooLarge(error);
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

/** Within the bounds of the interface, but not within those of the installation's NATS. */
const tooLarge = (cause: LaneError): Problem =>
  new Problem({
    code: 'payload_too_large',
    publicMessage: 'the request is larger than this installation can carry; send less at once',
    cause,
  });

/** The header is read, because the bytes would otherwise be taken for JSON that is not valid. */
export const unsupportedEncoding = (): Problem =>
  new Problem({ code: 'unsupported_encoding', headers: { 'Accept-Encoding': 'identity' } });

/** The portal takes only JSON: another site's form cannot send it without a CORS preflight. */
export const invalidContentType = (): Problem =>
  invalidField('Content-Type', 'not_json', 'Content-Type must be application/json');

export const invalidIdempotencyKey = (): Problem =>
  invalidField(
    'Idempotency-Key',
    'invalid_characters',
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces, commas, quotes and backslashes',
  );

export const invalidHost = (): Problem =>
  new Problem({ code: 'invalid_request', publicMessage: 'the Host header is not valid' });

/** The sealed answer (`writeAnswer`) would be held in memory whole, and no client needs to send a body. */
export const pageWithChunks = (): Problem =>
  new Problem({ code: 'invalid_request', publicMessage: 'a page takes no body' });
