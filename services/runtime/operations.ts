import {
  type Actor,
  type ActorUser,
  type BodyOf,
  type Condition,
  type Definition,
  type DefinitionNameOf,
  type Detail,
  definitions,
  type ErrorCode,
  errorShapeOf,
  type IdsIn,
  internalError,
  type LaneName,
  laneOf,
  laneSubject,
  type MemberOperation,
  type Operation,
  type OperationIn,
  operationById,
  operationsOf,
  Problem,
  parseCall,
  parseId,
  problem,
  type QueryOf,
  renderProblem,
  repeatOf,
  replyPrefix,
  roleAllows,
  roleRequired,
  type ServiceName,
} from '@causeway/proto';
import type { Bus } from './bus.ts';
import { CommitOutcomeUnknown, isPassing, isTimeLimit } from './database/errors.ts';
import { type CallIdentity, identify } from './idempotency/ledger.ts';
import { createCallSharing, type Once } from './idempotency/once.ts';
import { type Answer, LaneError } from './lanes/frame.ts';
import { type Call, each, type LaneHandler, type LaneServer, serveLane } from './lanes/server.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface Handler<Id extends string = string> {
  readonly operation: Operation<Id>;
  readonly answer: LaneHandler;
}

/** A handler for each definition of the service, under the definition's name. Other exports are not served. */
export type HandlerTable<Service extends ServiceName, Context> = {
  readonly [Name in DefinitionNameOf<Service>]: (
    context: Context,
  ) => Handler<IdsIn<Name>> | readonly Handler<IdsIn<Name>>[];
};

type Creator<Context> = (context: Context) => Handler | readonly Handler[];

/** If a definition has several callers, `audience` tells them apart. */
export type OperationCall<D extends Definition> = CallOf<OperationIn<D>>;

type CallOf<O> = O extends Operation ? ParsedCall<O> & CallerOf<O> : never;

interface ParsedCall<O extends Operation> {
  /** 0 for an operator, and for a caller without a session. */
  readonly companyId: number;
  readonly requestId: string;
  /** `performance.now()` at which the caller gives up. */
  readonly deadlineMs: number;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly identity: CallIdentity | undefined;
  readonly condition: Condition | undefined;
  readonly params: readonly string[];
  /** The first parameter of the path, as an id. @throws Problem `not_found` if it is not one. */
  id(what: string): number;
}

type CallerOf<O extends Operation> = O extends { readonly audience: 'key' }
  ? { readonly audience: 'key'; readonly keyId: number; readonly address: string | null }
  : O extends { readonly audience: 'member'; readonly role: infer Role }
    ? {
        readonly audience: 'member';
        readonly user: Role extends null ? null : ActorUser;
        readonly actor: Actor;
      }
    : { readonly audience: O['audience'] };

/**
 * The gateway has already checked a member's role; the adapter checks it again, because nothing else would
 * notice a mistake there.
 * @param problemsOf finds further problems in the valid fields of the body.
 */
export const handler = <const D extends Definition>(
  definition: D,
  handle: (call: OperationCall<D>) => Promise<Answer>,
  problemsOf?: (fields: Partial<BodyOf<OperationIn<D>>>) => readonly Detail[],
): readonly Handler<OperationIn<D>['id']>[] =>
  operationsOf(definition).map((operation) =>
    laneHandler(
      operation,
      each(async (call) => {
        if (operation.audience === 'member') checkRole(operation, call);
        const { tenant, caller, key, actor, requestId, deadlineMs, params } = call;
        const { query, body } = parseCall(operation as OperationIn<D>, call, problemsOf);
        const parsed = {
          audience: operation.audience,
          companyId: tenant,
          keyId: caller,
          address: key?.address ?? null,
          user: actor?.user,
          actor,
          requestId,
          deadlineMs,
          query,
          body,
          params,
          identity: identify(call),
          condition: call.condition,
          id: (what: string) => parseId(params[0], what),
        };
        return handle(parsed as unknown as OperationCall<D>);
      }),
    ),
  );

export const laneHandler = <const O extends Operation>(
  operation: O,
  answer: LaneHandler,
): Handler<O['id']> => ({
  operation,
  answer,
});

const checkRole = ({ id, role }: MemberOperation, { actor }: Call): void => {
  if (!actor) throw new Error(`${id}: the call has no actor`);
  if (role === null) return;
  if (!actor.user) throw problem('signed_out');
  if (!roleAllows(actor.user.role, role)) throw roleRequired(role);
};

export const json = <Value>(status: number, value: Value): Answer => ({
  status,
  body: JSON.stringify(value),
});

export const serveOperations = async <Service extends ServiceName, Context>({
  service,
  handlers,
  context,
  guard = ({ answer }) => answer,
  gatewayHandlers = {},
  once = neverAgain,
  ...rest
}: ServeOptions<Service, Context>): Promise<LaneServer> => {
  const creators = Object.entries<Definition>(definitions)
    .filter(([, definition]) => operationsOf(definition)[0]!.service === service)
    .map(([name]) => handlers[name as keyof typeof handlers] as Creator<Context>);
  const shared = createCallSharing(once, rest.metrics);
  const byLane = Map.groupBy(
    creators
      .flatMap((create) => create(context))
      .map((handler) => {
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
 * An operation without a handler is answered 501: the gateway is newer. A database that cannot do it now is a 503. A commit
 * with an unknown outcome and a read that took too long are a 504, like any missing answer. Any other error that is not a
 * `Problem` is a 500 that tells the caller only the request id.
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
    onError: (call, error) => failureAnswer(log, call, error),
  });

/** The answer to a call, or an item of it, that failed. Logs what only the operators may read. */
export const failureAnswer = (log: Log, call: Call, error: unknown): Answer =>
  problemAnswer(call, explain(log, call, error));

interface CommonOptions {
  readonly bus: Bus;
  readonly maxInFlight?: number;
  readonly well?: () => boolean;
  readonly metrics?: Metrics;
  readonly log: Log;
}

interface LaneOptions extends CommonOptions {
  readonly lane: LaneName;
  readonly handlers: Readonly<Record<string, LaneHandler>>;
}

interface ServeOptions<Service extends ServiceName, Context> extends CommonOptions {
  readonly service: Service;
  readonly handlers: HandlerTable<Service, Context>;
  readonly context: Context;
  readonly guard?: (handler: Handler) => LaneHandler;
  readonly once?: Pick<Once<unknown>, 'find'>;
  /** For the gateways' own calls, which are not operations. */
  readonly gatewayHandlers?: Readonly<Record<string, LaneHandler>>;
}

const neverAgain: Pick<Once<unknown>, 'find'> = { find: async () => undefined };

/** Gives an unexpected error the code of the operation; a problem and an outage of the database stay what they are. */
export const faultAs = (code: ErrorCode, error: unknown): unknown =>
  error instanceof Problem || isPassing(error) ? error : problem(code, error);

const explain = (log: Log, call: Call, error: unknown): Problem => {
  const { operation, tenant, requestId, traceparent } = call;
  const facts = { error, operation, tenant, requestId, traceparent };
  if (error instanceof Problem) {
    if (error.status === 500) log.error(facts, 'operation failed');
    return error;
  }
  if (error instanceof LaneError && error.code === 'too_large') {
    log.error(facts, 'answer too large');
    return answerTooLarge(error);
  }
  if (error instanceof CommitOutcomeUnknown) {
    log.warn(facts, 'commit outcome unknown');
    return problem('timeout', error);
  }
  if (isTimeLimit(error)) {
    log.warn(facts, 'query took too long');
    return problem('timeout', error);
  }
  if (isPassing(error)) {
    log.warn(facts, 'database unavailable');
    return problem('service_unavailable', error);
  }
  log.error(facts, 'operation failed');
  return internalError(error);
};

const answerTooLarge = (cause: LaneError): Problem =>
  new Problem({
    code: 'internal_error',
    publicMessage: 'the answer is too large to be sent; ask for less, for instance with a smaller `limit`',
    cause,
  });

/**
 * A client that may create a consumer can have a stream's messages delivered to a lane. Their reply subject
 * leads to JetStream, never to where a client of lanes listens.
 */
const answersTo = (lane: LaneName): string =>
  replyPrefix(lane.startsWith('operator') ? 'operator.' : 'gateway.');

const problemAnswer = ({ operation, requestId }: Call, thrown: Problem): Answer =>
  renderProblem(errorShapeOf(operationById.get(operation)), thrown, { requestId });
