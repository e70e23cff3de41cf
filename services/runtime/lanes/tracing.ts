import type { Span, Tracer } from '../tracing/tracer.ts';
import { errorType } from '../tracing/tracer.ts';
import type { LaneAnswer, LaneCall } from './call.ts';
import { shedStatus } from './frame.ts';

/** Starts the client span of a call, with OpenTelemetry's RPC attributes. */
export const tracedRequest =
  (tracer: Tracer, lane: string, request: (call: LaneCall) => Promise<LaneAnswer>) =>
  async (call: LaneCall): Promise<LaneAnswer> => {
    const span = start(tracer, 'client', lane, call);
    if (!span) return request(call);
    try {
      const answer = await request({ ...call, traceparent: span.traceparent });
      endAnswered(span, answer.status);
      return answer;
    } catch (error) {
      span.fail(errorType(error));
      span.end();
      throw error;
    }
  };

/** Starts the server span of a call on its arrival; `endAnswered` ends it. */
export const startServing = (tracer: Tracer, lane: string, call: LaneCall): Span | undefined =>
  start(tracer, 'server', lane, call);

export const endAnswered = (span: Span, status: number): void => {
  if (status === shedStatus) span.fail('overloaded');
  else {
    span.set({ 'rpc.response.status_code': String(status) });
    // A request refused for its content is not a failure of the service.
    if (status >= 500) span.fail(String(status));
  }
  span.end();
};

const start = (tracer: Tracer, kind: 'client' | 'server', lane: string, call: LaneCall): Span | undefined =>
  tracer.start(`${lane}/${call.operation}`, {
    kind,
    parents: [call.traceparent],
    attributes: {
      'rpc.system.name': 'nats_lane',
      'rpc.method': `${lane}/${call.operation}`,
      'causeway.company.id': call.tenant,
      'causeway.request.id': call.requestId,
    },
  });
