/** The entry point of the contract. The OpenAPI generator has its own, `@causeway/proto/openapi`. */
export * from './audit-log.ts';
export * from './deliveries.ts';
export * from './delivery-states.ts';
export * from './errors.ts';
export * from './events/ingest.ts';
export * from './events/summary.ts';
export * from './events.ts';
export * from './key-table.ts';
export * from './operation.ts';
export * from './operations.ts';
export * from './operator.ts';
export { hasReadOnly, updateProblems } from './parse/read-only.ts';
export * from './parse.ts';

export type { AuditAction, AuditActorKind, AuditTargetKind } from './portal/audit.ts';
export { eventCatalog } from './portal/events.ts';
export { type Range, rangeMinutes } from './portal/fields.ts';
export * from './portal/gateway.ts';
export * from './portal/mask.ts';
export { networkOf, siteOf } from './portal/network.ts';
export { maxReplayDeliveries, type ReplayKind } from './portal/replays.ts';
export * from './portal.ts';
export * from './render-problem.ts';
export * from './subjects.ts';
