import {
  type Actor,
  type ActorUser,
  type BodyOf,
  type Detail,
  type MemberOperation,
  type Operation,
  type OperationIdOf,
  parseCall,
  parseId,
  problem,
  type QueryOf,
  roleAllows,
  roleRequired,
  type ServiceName,
} from '@causeway/proto';
import { type Identity, identify } from '../idempotency/identity.ts';
import type { Answer } from '../lanes/call.ts';
import { type Call, each, type LaneHandler } from '../lanes/server.ts';

/** What a service does for one operation. */
export interface Handler<Id extends string = string> {
  readonly operation: Operation<Id>;
  readonly answer: LaneHandler;
}

/** The handlers of a service: exactly one for each of its operations, under the operation's name. */
export type HandlerTable<Service extends ServiceName, Context> = {
  readonly [Id in OperationIdOf<Service>]: (context: Context) => Handler<Id>;
};

/** A call of an operation, parsed and authorized. */
export type OperationCall<O extends Operation> = ParsedCall<O> & CallerOf<O>;

interface ParsedCall<O extends Operation> {
  /** 0 for an operator, and for a caller without a session. */
  readonly companyId: number;
  readonly requestId: string;
  /** `performance.now()` at which the caller gives up. */
  readonly deadlineMs: number;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  /** By it, the call is carried out once (`Once`). */
  readonly identity: Identity | undefined;
  /** The path parameters as sent. */
  readonly params: readonly string[];
  /** The first parameter of the path, as an id. @throws Problem `not_found` if it is not one. */
  id(what: string): number;
}

type CallerOf<O extends Operation> = O extends { readonly audience: 'key' }
  ? { readonly keyId: number; readonly address: string | null }
  : O extends { readonly audience: 'member'; readonly role: infer Role }
    ? { readonly user: Role extends null ? null : ActorUser; readonly actor: Actor }
    : unknown;

/**
 * The handler of an operation whose calls are answered one by one. The gateway has already checked the role of a
 * member; the adapter checks it again, because nothing else would notice a mistake there.
 * @param problemsOf finds further problems in the valid fields of the body.
 */
export const handler = <const O extends Operation>(
  operation: O,
  handle: (call: OperationCall<O>) => Promise<Answer>,
  problemsOf?: (fields: Partial<BodyOf<O>>) => readonly Detail[],
): Handler<O['id']> =>
  laneHandler(
    operation,
    each(async (call) => {
      if (operation.audience === 'member') checkRole(operation, call);
      const { tenant, caller, key, actor, requestId, deadlineMs, params } = call;
      const { query, body } = parseCall(operation, call, problemsOf);
      const parsed = {
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
        id: (what: string) => parseId(params[0], what),
      };
      return handle(parsed as unknown as OperationCall<O>);
    }),
  );

/** The handler of an operation that parses its calls itself, for example many of them at once. */
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
