import type { challengeType, EventType, HeaderPair } from '@causeway/proto';

export const userAgent = 'Causeway-Webhooks/1';

/** The headers of one attempt (contract, "Deliveries"), in the order they are sent. */
export const deliveryHeaders = (
  { event_id, event_type, attempt, replay_id }: Delivered,
  timestamp: number,
  [signature, standard]: readonly [signature: string, standard: string],
): HeaderPair[] => [
  ['Content-Type', 'application/json'],
  ['User-Agent', userAgent],
  ['X-Webhook-Timestamp', `${timestamp}`],
  ['X-Webhook-Signature', signature],
  ['X-Webhook-Id', `${event_id}`],
  ['X-Webhook-Event', event_type],
  ['X-Webhook-Attempt', `${attempt}`],
  ...(replay_id > 0 ? ([['X-Webhook-Replay', `${replay_id}`]] as const) : []),
  ['webhook-id', `${event_id}`],
  ['webhook-timestamp', `${timestamp}`],
  ['webhook-signature', standard],
];

export interface Delivered {
  readonly event_id: number;
  readonly event_type: EventType | typeof challengeType;
  readonly attempt: number;
  /** 0 if it is not a replay. */
  readonly replay_id: number;
}
