export { after, atTurnEnd, type Batch, createBatch, createTally, type Tally } from './batch.ts';
export { type Bus, connectBus, isNotice, isRequest, readNotice } from './bus.ts';
export { checkNats } from './check-nats.ts';
export { collectAtRest } from './collect.ts';
export {
  ConfigError,
  commonConfig,
  duration,
  durations,
  flag,
  integer,
  keyRing,
  mysqlConfig,
  parseConfig,
  ports,
  processConfig,
  readEnv,
} from './config.ts';
export { type Cursors, createCursors } from './cursors.ts';
export { createBatchWriter } from './database/batch-writer.ts';
export { connectDatabase, type DatabaseOptions } from './database/connect.ts';
export { later, sendDeferred } from './database/driver.ts';
export { clockSlackMs, isDue } from './database/due.ts';
export {
  CommitOutcomeUnknown,
  DatabaseUnavailable,
  duplicateKey,
  isDeadlock,
  isDuplicateRow,
  isLockedNoWait,
  isLockWaitTimeout,
  isPassing,
  isUnavailable,
  spansShards,
  TenantGuardError,
} from './database/errors.ts';
export type { Database, Trx } from './database/handle.ts';
export { createIds, type Ids, type IdTable } from './database/ids.ts';
export { MigrationError, type MigrationFolder, migrate } from './database/migrate.ts';
export { byShard, keyspaceIdOf, partsByShard } from './database/shards.ts';
export { companyRows, type Rows, statement } from './database/statement.ts';
export { acrossTenants } from './database/tenant-guard.ts';
export {
  rowList,
  tenantIn,
  tenantIs,
  type Value,
} from './database/tenant-raw.ts';
export { deleteSome, transaction } from './database/transaction.ts';
export { parseMysqlUrl } from './database/url.ts';
export { behindOwnGate, createGate, type Gate, openGate } from './gate.ts';
export {
  type CallIdentity,
  type CarriedOut,
  createLedger,
  type EarlierAnswers,
  type IdempotencyTables,
  identify,
  identifyItem,
  isReplay,
  type Ledger,
} from './idempotency/ledger.ts';
export { createOnce, type Once, sealedWithRing } from './idempotency/once.ts';
export { createInFlight, shareRun } from './in-flight.ts';
export { createLaneClient, type LaneClient } from './lanes/client.ts';
export { type Answer, type LaneAnswer, type LaneCall, LaneError, type LaneErrorCode } from './lanes/frame.ts';
export { type Call, each, type LaneHandler, type LaneServer } from './lanes/server.ts';
export { createLog, type Log, logPlain } from './log.ts';
export { createMeasurement, type Measurement } from './measurement.ts';
export {
  type CounterCell,
  createMetrics,
  declareMetrics,
  type Metric,
  type Metrics,
  noMetrics,
  scrape,
} from './metrics.ts';
export { natsAddress, parseNatsUrl } from './nats-address.ts';
export { openBus, openDatabase, runService, type ServiceOptions } from './open.ts';
export {
  failureAnswer,
  faultAs,
  type Handler,
  type HandlerTable,
  handler,
  json,
  laneHandler,
  type OperationCall,
  serveOperationLane,
  serveOperations,
} from './operations.ts';
export { type CommonConfig, type Kit, runProcess } from './process.ts';
export { readAtMost } from './read-stream.ts';
export { eachAlone, eachTick, type Repeated, repeat } from './repeat.ts';
export { guarded, reportError } from './report.ts';
export { keepDays, readPartitions, startRetention } from './retention.ts';
export { runtimeMetrics } from './runtime-metrics.ts';
export { type KeyRing, openSecret, parseKeyRing, sealedWith, sealSecret } from './sealed-secret.ts';
export { type ServedRequests, serveRequests } from './serve-requests.ts';
export { childTraceparent, randomHex } from './trace.ts';
export { createPauses, createTurns } from './turns.ts';
