import { z } from 'zod';
import { recordId } from '../schemas/fields.ts';
import { text } from '../schemas/text.ts';
import { eventPayload, knownEventType } from '../schemas/webhooks.ts';

/** For how long a `dedupeKey` stands for the event it was first sent with. */
export const dedupeWindowMs = 24 * 3600 * 1000;

/**
 * How the CRM's other modules add an event: a request to `ingestSubject` with this as JSON (decisions,
 * "Events"). It is answered when the event is durable, with `IngestAnswer`.
 */
export const ingestEvent = {
  body: z.strictObject({
    companyId: recordId,
    type: knownEventType,
    payload: eventPayload,
    /** The same key within `dedupeWindowMs` answers the first event's id and adds nothing. */
    dedupeKey: text({ min: 1, max: 200 }).optional(),
  }),
} as const;

export type IngestBody = z.output<typeof ingestEvent.body>;

/** The event's id, or what was wrong; `retry` says that the same request may succeed later. */
export type IngestAnswer =
  | { readonly id: number; readonly duplicate: boolean }
  | {
      readonly error: string;
      readonly details?: readonly { readonly field: string; readonly message: string }[];
      readonly retry: boolean;
    };
