import {
  errorShapeOf,
  internalError,
  type LaneName,
  laneSubject,
  type OperationId,
  operationById,
  Problem,
  problem,
  renderProblem,
  replyPrefix,
} from '@causeway/proto';
import type { Bus } from './bus.ts';
import type { CallerGuard } from './callers/guard.ts';
import { CommitOutcomeUnknown, DatabaseUnavailable, isConnectionLost } from './database/errors.ts';
import type { Answer } from './lanes/call.ts';
import { type Call, type Handler, type LaneServer, serveLane } from './lanes/server.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Tracer } from './tracing/tracer.ts';

export type OperationHandlers = Readonly<Partial<Record<OperationId, Handler>>>;

/** An answer with a JSON body. */
export const json = (status: number, value: unknown): Answer => ({ status, body: JSON.stringify(value) });

/**
 * Serves a lane from its handlers of the contract. An operation without a handler is answered
 * 501; whatever a handler throws becomes the operation's own error body. A database that is away is a 503,
 * as it passes. A commit whose outcome is unknown is a 504, as for any answer that did not come. Anything
 * else that is not a `Problem` becomes a 500 that tells the caller nothing but the request id.
 */
export const serveOperations = ({
  lane,
  handlers,
  callers,
  log,
  ...rest
}: {
  readonly bus: Bus;
  readonly lane: LaneName;
  readonly instance: string;
  readonly handlers: OperationHandlers & Readonly<Record<string, Handler | undefined>>;
  /** Of a lane whose callers are checked before its handlers run. */
  readonly callers?: CallerGuard;
  readonly maxInFlight?: number;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  readonly log: Log;
}): Promise<LaneServer> =>
  serveLane({
    ...rest,
    log,
    lane,
    subject: laneSubject(lane),
    answersTo: answersTo(lane),
    handlers: callers ? guarded(callers, handlers) : handlers,
    onUnknown: (call) => problemAnswer(call, problem('not_implemented')),
    onError: (call, error) => {
      if (error instanceof Problem) return problemAnswer(call, error);
      const { operation, tenant, requestId, traceparent } = call;
      if (error instanceof CommitOutcomeUnknown) {
        log.warn({ error, operation, tenant, requestId, traceparent }, 'whether it is committed is unknown');
        return problemAnswer(call, problem('timeout', error));
      }
      if (error instanceof DatabaseUnavailable || isConnectionLost(error)) {
        log.warn({ error, operation, tenant, requestId, traceparent }, 'no database');
        return problemAnswer(call, problem('service_unavailable', error));
      }
      log.error({ error, operation, tenant, requestId, traceparent }, 'operation failed');
      return problemAnswer(call, internalError(error));
    },
  });

const guarded = (
  callers: CallerGuard,
  handlers: Readonly<Record<string, Handler | undefined>>,
): Readonly<Record<string, Handler | undefined>> =>
  Object.fromEntries(
    Object.entries(handlers).map(([id, handler]) => [id, handler && callers.guard(handler)]),
  );

/**
 * Who may publish to a lane is NATS's business, but its own servers may publish everywhere: whoever may make a
 * consumer of a stream can have what is in it delivered to a lane. The answers to such a message would go back to
 * JetStream, never to where a client of lanes listens.
 */
const answersTo = (lane: LaneName): string =>
  replyPrefix(lane.startsWith('operator') ? 'operator.' : 'gateway.');

const problemAnswer = ({ operation, requestId }: Call, thrown: Problem): Answer =>
  renderProblem(errorShapeOf(operationById.get(operation)), thrown, { requestId });
