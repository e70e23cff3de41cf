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
  repeatOf,
  replyPrefix,
  type ServiceName,
} from '@causeway/proto';
import type { Bus } from '../bus.ts';
import { CommitOutcomeUnknown, DatabaseUnavailable, isConnectionLost } from '../database/errors.ts';
import type { Once } from '../idempotency/once.ts';
import { createCallSharing } from '../idempotency/share-calls.ts';
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
  once = neverAgain,
  ...rest
}: ServeOptions<Service, Context>): Promise<LaneServer> => {
  const creators = Object.values(handlers) as ((context: Context) => Handler)[];
  const shared = createCallSharing(once, rest.metrics);
  const byLane = Map.groupBy(
    creators.map((create) => {
      const handler = create(context);
      const isOnce = repeatOf(handler.operation) === 'once';
      return isOnce ? { ...handler, answer: shared(handler.answer) } : handler;
    }),
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
 * Serves one lane of operations. An operation without a handler is answered 501: the gateway is newer. An error
 * thrown by a handler becomes the operation's error body. An unreachable database is a 503. A commit with an unknown
 * outcome is a 504, like any missing answer. Any other error that is not a `Problem` is a 500 that tells the caller
 * only the request id.
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
  /** Whether this replica can work; while it cannot, its calls go to others. */
  readonly well?: () => boolean;
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
  /** What the handlers share. */
  readonly context: Context;
  /** Wraps a handler with checks before it or work after it. */
  readonly guard?: (handler: Handler) => LaneHandler;
  /** For a service with operations that are carried out `once`. */
  readonly once?: Pick<Once<unknown>, 'find'>;
  /** Handlers, by name, for the gateways' own calls, which are not operations. */
  readonly gatewayHandlers?: Readonly<Record<string, LaneHandler>>;
}

const neverAgain: Pick<Once<unknown>, 'find'> = { find: async () => undefined };

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
 * NATS checks who publishes to a lane, but its own servers may publish everywhere: a client that may create a
 * consumer of a stream can have its messages delivered to a lane. The reply subject of such a message leads to
 * JetStream, never to where a client of lanes listens.
 */
const answersTo = (lane: LaneName): string =>
  replyPrefix(lane.startsWith('operator') ? 'operator.' : 'gateway.');

const problemAnswer = ({ operation, requestId }: Call, thrown: Problem): Answer =>
  renderProblem(errorShapeOf(operationById.get(operation)), thrown, { requestId });
