import type { Operation } from './operation.ts';
import * as affiliates from './operations/affiliates.ts';
import * as clients from './operations/clients.ts';
import * as events from './operations/events.ts';
import * as find from './operations/find.ts';
import * as leads from './operations/leads.ts';
import * as lookups from './operations/lookups.ts';
import * as subscriptions from './operations/subscriptions.ts';

/**
 * Every operation of the interface under its id, each with its exact types, so that
 * `parseQuery(contract.findClients, …)` knows what it returns.
 */
export const contract = Object.freeze({
  ...lookups,
  ...find,
  ...leads,
  ...clients,
  ...affiliates,
  ...subscriptions,
  ...events,
});

export type OperationId = keyof typeof contract;

/** The table of operations. */
export const operations: readonly Operation<OperationId>[] = Object.values(contract);

export const operationById: ReadonlyMap<string, Operation<OperationId>> = new Map(
  operations.map((operation) => [operation.id, operation]),
);
