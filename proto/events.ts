/** The ten event types of version 1 (contract, "Events"). */
export const eventTypes = [
  'client.created',
  'client.status_changed',
  'lead.created',
  'invoice.created',
  'invoice.status_changed',
  'payment.succeeded',
  'payment.failed',
  'affiliate.created',
  'document.uploaded',
  'agreement.signed',
] as const;
export type EventType = (typeof eventTypes)[number];

const known: ReadonlySet<string> = new Set(eventTypes);
export const isEventType = (text: string): text is EventType => known.has(text);

/** Largest payload of an event, in bytes of its compact JSON in UTF-8 (contract, "Rate limits"). */
export const maxPayloadBytes = 262_144;
