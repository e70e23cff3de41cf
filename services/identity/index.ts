export { writeAudit } from './audit.ts';
export { assertSameName, assertUnchanged } from './based-on.ts';
export { type Callers, followCallers } from './callers.ts';
export {
  type ClosedCompanyRow,
  closedReason,
  isClosed,
  keptClosedMs,
  startEmptying,
} from './closed-companies.ts';
export { type ExportedKind, exportedRows, exportPage } from './export.ts';
export { followKeyTable, identityMetrics, type KeyTable } from './key-table.ts';
export { decodeDigests, digestGroups, groupDiffers, groupOf, toggleEntry } from './key-table-digest.ts';
export { createKeyValue, hashKeyValue, lastFour, maskKey, parseKeyValue, randomText } from './keys.ts';
export { ensureLimitStreams } from './limit-streams.ts';
export { isAllowedFrom } from './networks.ts';
export { incidentCause, type Notice, type Told, writeNotices } from './notices.ts';
export { originOf } from './origin.ts';
export { createSessionSigner, type SessionSigner } from './session-proof.ts';
