import {
  type AnswerOf,
  type Audience,
  type BodyInputOf,
  type Definition,
  type KeyOperation,
  type MemberOperation,
  type Named,
  named,
  type Operation,
  type OperationIn,
  type OperatorOperation,
  operationsOf,
  type UnnamedDefinition,
} from './operation.ts';
import * as affiliates from './operations/affiliates.ts';
import * as batches from './operations/batches.ts';
import * as changes from './operations/changes.ts';
import * as clients from './operations/clients.ts';
import * as subscriptionDeliveries from './operations/deliveries.ts';
import * as events from './operations/events.ts';
import * as find from './operations/find.ts';
import * as incidents from './operations/incidents.ts';
import * as leads from './operations/leads.ts';
import * as lookups from './operations/lookups.ts';
import * as me from './operations/me.ts';
import * as records from './operations/records.ts';
import * as subscriptions from './operations/subscriptions.ts';
import * as operator from './operator.ts';
import * as audit from './portal/audit.ts';
import * as deliveries from './portal/deliveries.ts';
import * as deliveryActions from './portal/delivery-actions.ts';
import * as deliveryShares from './portal/delivery-shares.ts';
import * as portalEvents from './portal/events.ts';
import * as failureCauses from './portal/failure-causes.ts';
import * as apiKeys from './portal/keys.ts';
import * as notices from './portal/notices.ts';
import * as overview from './portal/overview.ts';
import * as passkeys from './portal/passkeys.ts';
import * as people from './portal/people.ts';
import * as profile from './portal/profile.ts';
import * as replays from './portal/replays.ts';
import * as session from './portal/session.ts';
import * as settings from './portal/settings.ts';
import * as portalSubscriptions from './portal/subscriptions.ts';
import * as team from './portal/team.ts';
import type { ServiceName } from './subjects.ts';

type DefinitionsIn<Module> = {
  readonly [Name in keyof Module as Module[Name] extends UnnamedDefinition ? Name : never]: Named<
    Name,
    Module[Name]
  >;
};
const definitionsIn = <Module extends object>(module: Module): DefinitionsIn<Module> =>
  Object.fromEntries(
    Object.entries(module).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null && ('audience' in value || 'callers' in value)
        ? [[name, named(name, value)]]
        : [],
    ),
  ) as DefinitionsIn<Module>;

/** Every definition by the name of its handler. One with several callers gives `contract` several operations. */
export const definitions = Object.freeze({
  ...definitionsIn(me),
  ...definitionsIn(lookups),
  ...definitionsIn(find),
  ...definitionsIn(records),
  ...definitionsIn(leads),
  ...definitionsIn(clients),
  ...definitionsIn(affiliates),
  ...definitionsIn(batches),
  ...definitionsIn(changes),
  ...definitionsIn(subscriptions),
  ...definitionsIn(subscriptionDeliveries),
  ...definitionsIn(incidents),
  ...definitionsIn(events),
  ...definitionsIn(session),
  ...definitionsIn(settings),
  ...definitionsIn(profile),
  ...definitionsIn(passkeys),
  ...definitionsIn(team),
  ...definitionsIn(apiKeys),
  ...definitionsIn(audit),
  ...definitionsIn(notices),
  ...definitionsIn(portalSubscriptions),
  ...definitionsIn(portalEvents),
  ...definitionsIn(overview),
  ...definitionsIn(deliveries),
  ...definitionsIn(deliveryActions),
  ...definitionsIn(deliveryShares),
  ...definitionsIn(replays),
  ...definitionsIn(people),
  ...definitionsIn(failureCauses),
  ...definitionsIn(operator),
});

type Definitions = typeof definitions;

export type DefinitionNameOf<Service extends ServiceName> = {
  readonly [Name in keyof Definitions]: OperationIn<Definitions[Name]> extends { readonly service: Service }
    ? Name
    : never;
}[keyof Definitions];

export type IdsIn<Name extends keyof Definitions> = OperationIn<Definitions[Name]>['id'];

/** Each operation with its exact types: `parseQuery(contract.findClients, …)` knows what it returns. */
export const contract = Object.freeze(
  Object.fromEntries(
    Object.values<Definition>(definitions)
      .flatMap(operationsOf)
      .map((operation) => [operation.id, operation]),
  ),
) as { readonly [O in OperationIn<Definitions[keyof Definitions]> as O['id']]: O };

export type Contract = typeof contract;

export type OperationId = keyof Contract;

type OperationIdOf<Service extends ServiceName, Of extends Audience = Audience> = {
  readonly [Id in OperationId]: Contract[Id] extends { readonly service: Service; readonly audience: Of }
    ? Id
    : never;
}[OperationId];

export type KeyOperationId = OperationIdOf<ServiceName, 'key'>;
export type MemberOperationId = OperationIdOf<ServiceName, 'member'>;
export type OperatorOperationId = OperationIdOf<ServiceName, 'operator'>;

export type AnswerTo<Id extends OperationId> = AnswerOf<Contract[Id]>;
export type BodyFor<Id extends OperationId> = BodyInputOf<Contract[Id]>;

const all: readonly Operation<OperationId>[] = Object.values(contract);

export const operationById: ReadonlyMap<string, Operation<OperationId>> = new Map(
  all.map((operation) => [operation.id, operation]),
);

const ofAudience = <Of extends Operation>(audience: Of['audience']): readonly Of[] =>
  all.filter((operation) => operation.audience === audience) as readonly Operation[] as readonly Of[];

export const keyOperations = ofAudience<KeyOperation<KeyOperationId>>('key');
export const memberOperations = ofAudience<MemberOperation<MemberOperationId>>('member');
export const operatorOperations = ofAudience<OperatorOperation<OperatorOperationId>>('operator');
