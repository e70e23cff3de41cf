export * from './audit-log.ts';
export * from './conditions.ts';
export * from './deliveries.ts';
export * from './delivery-states.ts';
export * from './errors.ts';
export * from './events/ingest.ts';
export * from './events/sample.ts';
export * from './events/summary.ts';
export * from './events.ts';
export * from './idempotency-key.ts';
export * from './key-table.ts';
export * from './member-endings.ts';
export * from './notices.ts';
export * from './operation.ts';
export { type BatchMode, batchesAtOnce, maxBatchItems } from './operations/batches.ts';
export { changesForgotten, deletionsKeptDays, type RecordType, recordTypes } from './operations/changes.ts';
export { meAtOnce } from './operations/me.ts';
export * from './operations.ts';
export type {
  CompanyAnswer,
  CompanyStatusAnswer,
  KeyAnswer,
  LimitsAnswer,
  ReencryptAnswer,
} from './operator.ts';
export { type BatchItem, readBatch, readItem, upsertOf } from './parse/batch.ts';
export { parseJson, readJsonObject } from './parse/json.ts';
export type { WithBody } from './parse/read.ts';
export { readQueryString } from './parse/read.ts';
export { hasReadOnly, updateProblems } from './parse/read-only.ts';
export * from './parse.ts';

export type { AuditAction, AuditActorKind, AuditTargetKind } from './portal/audit.ts';
export { maxDeliveryShares } from './portal/delivery-shares.ts';
export { eventCatalog } from './portal/events.ts';
export { type Range, rangeMinutes } from './portal/fields.ts';
export * from './portal/gateway.ts';
export * from './portal/mask.ts';
export { networkOf, siteOf } from './portal/network.ts';
export { maxPasskeys } from './portal/passkeys.ts';
export { maxReplayDeliveries, type ReplayKind } from './portal/replays.ts';
export { type SettingsFile, settingsFile } from './portal/settings.ts';
export * from './portal.ts';
export * from './render-problem.ts';
export { conditionProblems, kindOf, maxHeaders, secondsOf } from './schemas/subscription-rules.ts';
export * from './subjects.ts';
export * from './versions.ts';
