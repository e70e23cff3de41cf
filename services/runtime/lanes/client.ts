import type { Msg } from '@nats-io/nats-core';
import { createBatch } from '../batch.ts';
import type { Bus } from '../bus.ts';
import type { Log } from '../log.ts';
import { type Metrics, noMetrics } from '../metrics.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { type LaneAnswer, type LaneCall, LaneError, type LaneErrorCode } from './call.ts';
import {
  decodeAnswers,
  encodeCalls,
  maxBodyBytes,
  maxFrameBytes,
  maxFrameEntries,
  type NumberedCall,
  shedStatus,
} from './frame.ts';
import { tracedRequest } from './tracing.ts';

/** The calling end of a lane. */
export interface LaneClient {
  /** Resolves with the answer of the service, including its errors. @throws LaneError */
  request(call: LaneCall): Promise<LaneAnswer>;
  inFlight(): number;
  /** Fails all calls in flight with `closed`. */
  close(): void;
}

/**
 * Sends the calls of one event loop tick to the same service as one NATS message. Each call has its own deadline, and
 * a slow call delays no other, because answers arrive as they are ready.
 */
export const createLaneClient = (options: LaneClientOptions): LaneClient => {
  const { bus, lane, subject, replySubject, maxInFlight = 4096, metrics = noMetrics, tracer, log } = options;
  const pending = new Map<number, PendingCall>();
  let lastId = 0;
  let lastFrame = 0;

  const frames = metrics.counter(runtimeMetrics.lane_client_frames_total).cell(lane);
  const calls = metrics.counter(runtimeMetrics.lane_client_calls_total).cell(lane);
  const failures = metrics.counter(runtimeMetrics.lane_client_failures_total);
  metrics.gauge(runtimeMetrics.lane_client_in_flight, () => pending.size, { lane });

  const settle = (id: number): PendingCall | undefined => {
    const call = pending.get(id);
    if (call) pending.delete(id);
    return call;
  };
  const fail = (id: number, code: LaneErrorCode): void => {
    const call = settle(id);
    if (!call) return;
    failures.cell(lane, code).value++;
    call.reject(new LaneError(code, lane));
  };

  const send = (entries: readonly NumberedCall[]): void => {
    const frame = ++lastFrame;
    for (const { id } of entries) {
      const call = pending.get(id);
      if (call) call.frame = frame;
    }
    bus.nc.publish(subject, encodeCalls(entries), { reply: `${replySubject}.${frame}` });
    frames.value++;
    calls.value += entries.length;
  };

  const batch = createBatch<NumberedCall>({
    name: `lane-${lane}`,
    metrics,
    when: setImmediate,
    maxItems: maxFrameEntries,
    bytes: { max: maxFrameBytes, of: bytesOf },
    flush: send,
  });

  const onReply = (error: Error | null, message: Msg): void => {
    if (error) return;
    if (message.data.length === 0 && message.headers?.code === 503) {
      // The server found no subscriber for this frame, so none of its calls was executed.
      const frame = Number(message.subject.slice(message.subject.lastIndexOf('.') + 1));
      for (const [id, call] of pending) if (call.frame === frame) fail(id, 'absent');
      return;
    }
    let answers: ReturnType<typeof decodeAnswers>;
    try {
      answers = decodeAnswers(message.data);
    } catch (cause) {
      log?.error({ error: cause, lane }, 'answer frame cannot be read');
      return;
    }
    for (const { id, answer } of answers) {
      if (answer.status === shedStatus) fail(id, 'overloaded');
      else settle(id)?.resolve(answer);
    }
  };
  const subscription = bus.nc.subscribe(`${replySubject}.*`, { callback: onReply });

  // One timer for all calls: there are at most `maxInFlight`, and deadlines need not be exact to the millisecond.
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const [id, call] of pending) if (call.deadlineMs <= nowMs) fail(id, 'timeout');
  }, 25);
  sweep.unref();

  let closed = false;
  const request = (call: LaneCall): Promise<LaneAnswer> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      pending.set(id, { resolve, reject, deadlineMs: performance.now() + call.budgetMs, frame: 0 });
      if (closed) return fail(id, 'closed');
      if (!bus.connected()) return fail(id, 'disconnected');
      if (pending.size > maxInFlight) return fail(id, 'overloaded');
      if (call.body.byteLength > maxBodyBytes) return fail(id, 'too_large');
      batch.add({ id, call });
    });

  return {
    request: tracer ? tracedRequest(tracer, lane, request) : request,
    inFlight: () => pending.size,
    close: () => {
      closed = true;
      clearInterval(sweep);
      subscription.unsubscribe();
      for (const id of [...pending.keys()]) fail(id, 'closed');
    },
  };
};

/**
 * An upper bound of the bytes of an encoded entry. 512 covers IDs, names, trace context and a key; the texts of an
 * actor are bounded too.
 */
const bytesOf = ({ call }: NumberedCall): number =>
  512 + (call.actor ? 4096 : 0) + call.body.byteLength + call.query.length * 3;

export interface LaneClientOptions {
  readonly bus: Bus;
  /** The lane's name in metrics and errors. */
  readonly lane: string;
  readonly subject: string;
  /** Answers come to `<replySubject>.<frame>`; unique to this client. */
  readonly replySubject: string;
  /** Further calls are shed at once rather than queued. */
  readonly maxInFlight?: number;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  readonly log?: Log;
}

interface PendingCall {
  readonly resolve: (answer: LaneAnswer) => void;
  readonly reject: (error: LaneError) => void;
  readonly deadlineMs: number;
  frame: number;
}
