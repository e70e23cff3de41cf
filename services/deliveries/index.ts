export {
  addressProblem,
  type DeliveryPorts,
  deliveryPorts,
  hostProblem,
  portOf,
  portProblem,
} from './addresses.ts';
export { eventsAtOnce, eventsMeeting, sizeFor } from './conditions.ts';
export { expiryWithoutTool, isLive } from './expiry.ts';
export { createMissedReport, noteMissed, takeBackMissed, type WaitingEvent } from './missed.ts';
export { nextDueMs, nextDueSql, type QueueDue, raiseSubscriptionsVersion } from './queues.ts';
export {
  findReplayCandidates,
  type ReplayCandidate,
  type ReplaySelection,
  replayFilterOf,
  replaySelectionOf,
} from './replay-candidates.ts';
export {
  headersAsSent,
  packRequest,
  packResponse,
  type ReceivedResponse,
  requestHeadersOf,
  responseOf,
  type Signed,
} from './stored-attempt.ts';
export {
  attemptFactColumns,
  type DeliveryAttemptRow,
  type DeliveryKey,
  type DeliveryMinutesRow,
  type DeliveryQueueRow,
  type DeliveryRow,
  deliveryColumns,
  type ElapsedColumn,
  type EventOutboxRow,
  type IncidentRow,
  type ReplayRow,
  replayColumns,
  type SubscriptionChangeRow,
  type SubscriptionRow,
} from './tables.ts';
export {
  type Admission,
  admitWaiting,
  countWaiting,
  hasRoomForWaiting,
} from './waiting.ts';
