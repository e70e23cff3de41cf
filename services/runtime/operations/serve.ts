import {
  errorShapeOf,
  internalError,
  type LaneName,
  laneOf,
  laneSubject,
  operationById,
  Problem,
  problem,
  renderProblem,
  replyPrefix,
  type ServiceName,
} from '@causeway/proto';
import type { Bus } from '../bus.ts';
import { CommitOutcomeUnknown, DatabaseUnavailable, isConnectionLost } from '../database/errors.ts';
import type { Answer } from '../lanes/call.ts';
import { type Call, type LaneHandler, type LaneServer, serveLane } from '../lanes/server.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { Handler, HandlerTable } from './handler.ts';

/** An answer with a JSON body. */
export const json = <Value>(status: number, value: Value): Answer => ({
  status,
  body: JSON.stringify(value),
});

/** Serves the operations of a service, each over its lane. */
export const serveOperations = async <Service extends ServiceName, Context>({
  service,
  handlers,
  context,
  guard = ({ answer }) => answer,
  gatewayHandlers = {},
  ...rest
}: ServeOptions<Service, Context>): Promise<LaneServer> => {
  const creators = Object.values(handlers) as ((context: Context) => Handler)[];
  const byLane = Map.groupBy(
    creators.map((create) => create(context)),
    ({ operation }) => laneOf(operation),
  );
  const lanes = await Promise.all(
    [...byLane].map(([lane, ofLane]) =>
      serveOperationLane({
        ...rest,
        lane,
        handlers: {
          ...Object.fromEntries(ofLane.map((handler) => [handler.operation.id, guard(handler)])),
          ...(lane === service && gatewayHandlers),
        },
      }),
    ),
  );
  return {
    inFlight: () => lanes.reduce((sum, lane) => sum + lane.inFlight(), 0),
    drain: async () => {
      await Promise.all(lanes.map((lane) => lane.drain()));
    },
  };
};

/**
 * Serves one lane of operations. An operation without a handler is answered 501: the gateway is newer. Whatever a
 * handler throws becomes the operation's own error body. A database that is away is a 503, as it passes. A commit whose
 * outcome is unknown is a 504, as for any answer that did not come. Anything else that is not a `Problem` becomes a 500
 * that tells the caller nothing but the request id.
 */
export const serveOperationLane = ({ lane, handlers, log, ...rest }: LaneOptions): Promise<LaneServer> =>
  serveLane({
    ...rest,
    log,
    lane,
    subject: laneSubject(lane),
    answersTo: answersTo(lane),
    handlers,
    onUnknown: (call) => problemAnswer(call, problem('not_implemented')),
    onError: (call, error) => problemAnswer(call, explain(log, call, error)),
  });

interface CommonOptions {
  readonly bus: Bus;
  readonly instance: string;
  readonly maxInFlight?: number;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  readonly log: Log;
}

interface LaneOptions extends CommonOptions {
  readonly lane: LaneName;
  readonly handlers: Readonly<Record<string, LaneHandler>>;
}

export interface ServeOptions<Service extends ServiceName, Context> extends CommonOptions {
  readonly service: Service;
  readonly handlers: HandlerTable<Service, Context>;
  /** What the handlers work with. */
  readonly context: Context;
  /** Puts checks before a handler, or something after it. */
  readonly guard?: (handler: Handler) => LaneHandler;
  /** By name: what gateways ask for themselves, which is no operation. */
  readonly gatewayHandlers?: Readonly<Record<string, LaneHandler>>;
}

const explain = (log: Log, call: Call, error: unknown): Problem => {
  if (error instanceof Problem) return error;
  const { operation, tenant, requestId, traceparent } = call;
  const facts = { error, operation, tenant, requestId, traceparent };
  if (error instanceof CommitOutcomeUnknown) {
    log.warn(facts, 'commit outcome unknown');
    return problem('timeout', error);
  }
  if (error instanceof DatabaseUnavailable || isConnectionLost(error)) {
    log.warn(facts, 'database unavailable');
    return problem('service_unavailable', error);
  }
  log.error(facts, 'operation failed');
  return internalError(error);
};

/**
 * NATS checks who publishes to a lane, but its own servers may publish everywhere: whoever may create a consumer of a
 * stream can have its messages delivered to a lane. The reply subject of such a message leads to JetStream, never to
 * where a client of lanes listens.
 */
const answersTo = (lane: LaneName): string =>
  replyPrefix(lane.startsWith('operator') ? 'operator.' : 'gateway.');

const problemAnswer = ({ operation, requestId }: Call, thrown: Problem): Answer =>
  renderProblem(errorShapeOf(operationById.get(operation)), thrown, { requestId });
