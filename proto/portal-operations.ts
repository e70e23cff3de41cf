import * as deliveries from './portal/deliveries.ts';
import type { PortalOperation } from './portal.ts';

/** Every operation of the portal under its id, with its exact types. */
export const portalContract = Object.freeze({ ...deliveries });

export type PortalOperationId = keyof typeof portalContract;

export const portalOperations: readonly PortalOperation<PortalOperationId>[] = Object.values(portalContract);

export const portalOperationById: ReadonlyMap<string, PortalOperation> = new Map(
  portalOperations.map((operation: PortalOperation) => [operation.id, operation]),
);
