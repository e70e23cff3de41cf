import type { AnswerOf, BodyInputOf } from './operation.ts';
import * as audit from './portal/audit.ts';
import * as catalog from './portal/catalog.ts';
import * as deliveries from './portal/deliveries.ts';
import * as events from './portal/events.ts';
import * as keys from './portal/keys.ts';
import * as overview from './portal/overview.ts';
import * as profile from './portal/profile.ts';
import * as replays from './portal/replays.ts';
import * as session from './portal/session.ts';
import * as subscriptions from './portal/subscriptions.ts';
import * as team from './portal/team.ts';
import type { PortalOperation } from './portal.ts';

/** Beside operations, the modules export the schemas that these share. */
type OperationsIn<Module> = {
  readonly [Name in keyof Module as Module[Name] extends PortalOperation ? Name : never]: Module[Name];
};
const isOperation = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value;
const operationsIn = <Module extends object>(module: Module): OperationsIn<Module> =>
  Object.fromEntries(
    Object.entries(module).filter(([, value]) => isOperation(value)),
  ) as OperationsIn<Module>;

/** Every operation of the portal under its id, with its exact types. */
export const portalContract = Object.freeze({
  ...operationsIn(session),
  ...operationsIn(profile),
  ...operationsIn(team),
  ...operationsIn(keys),
  ...operationsIn(audit),
  ...operationsIn(subscriptions),
  ...operationsIn(events),
  ...operationsIn(catalog),
  ...operationsIn(overview),
  ...operationsIn(deliveries),
  ...operationsIn(replays),
});

export type PortalContract = typeof portalContract;
export type PortalOperationId = keyof PortalContract;

/** What an operation answers with success, as JSON; undefined where there is no body. */
export type PortalAnswer<Id extends PortalOperationId> = AnswerOf<PortalContract[Id]>;
/** What an operation takes as its body. */
export type PortalBody<Id extends PortalOperationId> = BodyInputOf<PortalContract[Id]>;

export const portalOperations: readonly PortalOperation<PortalOperationId>[] = Object.values(portalContract);
