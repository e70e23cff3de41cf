import {
  type Actor,
  type ActorUser,
  type BodyOf,
  type MemberOperation,
  parseCall,
  parseId,
  problem,
  type QueryOf,
  roleAllows,
  roleRequired,
} from '@causeway/proto';
import type { Answer } from './lanes/call.ts';
import { type Call, each, type Handler } from './lanes/server.ts';

/** A call of the portal, parsed. */
export interface PortalCall<O extends MemberOperation> {
  readonly companyId: number;
  /** Null where the operation is for those who have no session yet. */
  readonly user: O['role'] extends null ? null : ActorUser;
  readonly actor: Actor;
  readonly requestId: string;
  /** `performance.now()` at which the caller gives up. */
  readonly deadlineMs: number;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  /** The path's parameters as they were sent. */
  readonly params: readonly string[];
  /** The one parameter of a path that has one, as an id. @throws Problem `not_found` where it is none. */
  id(what: string): number;
}

/**
 * The handler of one operation of the portal. The gateway has let the call through already; that the role
 * suffices is checked here again, as a mistake there would otherwise be nowhere else to be seen.
 */
export const portalHandler = <const O extends MemberOperation>(
  operation: O,
  handle: (call: PortalCall<O>) => Promise<Answer>,
): Handler => each(async (call) => handle(portalCall(operation, call)));

const portalCall = <O extends MemberOperation>(operation: O, call: Call): PortalCall<O> => {
  const { actor, tenant, requestId, deadlineMs, params } = call;
  if (!actor) throw new Error(`${operation.id}: the call has no actor`);
  if (operation.role !== null) {
    if (!actor.user) throw problem('signed_out');
    if (!roleAllows(actor.user.role, operation.role)) throw roleRequired(operation.role);
  }
  const { query, body } = parseCall(operation, call);
  return {
    companyId: tenant,
    user: actor.user as PortalCall<O>['user'],
    actor,
    requestId,
    deadlineMs,
    query,
    body,
    params,
    id: (what) => parseId(params[0], what),
  };
};
