import { z } from 'zod';
import { type EventType, eventDefinitions, isEventType } from '../events.ts';
import { explain } from '../parse/issues.ts';
import { recordId } from '../schemas/fields.ts';
import { optionalText } from '../schemas/text.ts';
import { eventPayload, knownEventType } from '../schemas/webhooks.ts';

/** How long a `dedupeKey` refers to the first event that was sent with it. */
export const dedupeWindowMs = 24 * 3600 * 1000;

/**
 * How other modules of the CRM add an event: a NATS request to `ingestSubject` with this JSON (contract, "Events").
 * The answer, an `IngestAnswer`, is sent once the event is durable.
 */
export const ingestEvent = {
  body: z
    .strictObject({
      companyId: recordId,
      type: knownEventType,
      payload: eventPayload,
      /** Within `dedupeWindowMs`, a request with the same key gets the first event's id and adds no event. */
      dedupeKey: optionalText({ max: 200 }),
      /** Set by `POST /events/test`, whose payload may be any object. */
      isTest: z.boolean().optional(),
    })
    .check(
      z.core._check(
        ({ value, issues }: z.core.ParsePayload<{ type?: unknown; payload?: unknown; isTest?: unknown }>) => {
          const { type, payload, isTest } = value;
          if (isTest === true || typeof type !== 'string' || !isEventType(type)) return;
          if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return;
          for (const { path, message } of payloadProblems(type, payload))
            issues.push({ code: 'custom', input: payload, path: ['payload', ...path], message });
        },
        { when: ({ value }) => typeof value === 'object' && value !== null },
      ),
    ),
} as const;

/** Receivers rely on the published schema of a type, so a payload that breaks it is refused. */
const payloadProblems = (type: EventType, payload: object): readonly z.core.$ZodIssue[] =>
  eventDefinitions[type].payload.safeParse(payload, { error: explain }).error?.issues ?? [];

export type IngestBody = z.output<typeof ingestEvent.body>;

/** The event's id, or an error. `retry`: the same request may succeed later. */
export type IngestAnswer =
  | { readonly id: number; readonly duplicate: boolean }
  | {
      readonly error: string;
      readonly details?: readonly { readonly field: string; readonly message: string }[];
      readonly retry: boolean;
    };
