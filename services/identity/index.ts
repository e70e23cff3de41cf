export { writeAudit } from './audit.ts';
export { type Callers, followCallers } from './callers.ts';
export { followKeyTable, identityMetrics, type KeyTable } from './key-table.ts';
export { decodeDigests, digestGroups, groupDiffers, groupOf, toggleEntry } from './key-table-digest.ts';
export { createKeyValue, hashKeyValue, lastFour, maskKey, parseKeyValue } from './keys.ts';
export { ensureLimitStreams } from './limit-streams.ts';
export { type Notice, writeNotices } from './notices.ts';
export { originOf } from './origin.ts';
export { createSessionSigner, type SessionSigner } from './session-proof.ts';
