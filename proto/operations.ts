import type { Operation } from './operation.ts';
import * as affiliates from './operations/affiliates.ts';
import * as clients from './operations/clients.ts';
import * as events from './operations/events.ts';
import * as find from './operations/find.ts';
import * as leads from './operations/leads.ts';
import * as lookups from './operations/lookups.ts';
import * as subscriptions from './operations/subscriptions.ts';

/**
 * Every operation of the interface under its id, with its exact types:
 * `operationById.findClients`. Its handlers, routes and documentation are all found by this name.
 */
export const operationById = Object.freeze({
  ...lookups,
  ...find,
  ...leads,
  ...clients,
  ...affiliates,
  ...subscriptions,
  ...events,
});

export type OperationId = keyof typeof operationById;

/** The table of operations, in the order of the documentation. */
export const operations: readonly Operation<OperationId>[] = Object.values(operationById);
