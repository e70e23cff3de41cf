import { z } from 'zod';
import {
  attemptTimeoutMs,
  challengeType,
  failuresUntilDisabled,
  failuresUntilProbing,
  longestProbeRetryAfterMs,
  longestProbeWait,
  probeIntervalMs,
  retentionDays,
  retryScheduleMs,
} from '../delivery-states.ts';
import { sampleDelivery } from '../events/sample.ts';
import { erasedPayloadSchema } from '../events/shared.ts';
import { type EventType, eventDefinitions, eventTypes, maxPayloadBytes } from '../events.ts';
import { envelope } from '../schemas/webhooks.ts';
import { byType, type Components, type Json, pascal } from './components.ts';

/** Contract, "Deliveries" and "Endpoint verification". */
export const webhooks = (components: Components): Json => {
  const described = Object.fromEntries([
    ...eventTypes.map((type) => [type, { post: delivery(type, components) }]),
    [challengeType, { post: challenge(components) }],
  ]);
  const { schemas } = components;
  schemas.WebhookEvent = { ...byType(schemas, eventNames), description: eventDescription };
  const body = byType(schemas, [...eventNames, 'EndpointVerification']);
  schemas.Delivery = { ...body, description: 'The body of a delivery, by its `type`.' };
  return described;
};

const eventNames = eventTypes.map((type) => `${pascal(type)}Event`);

const eventDescription =
  'An event, by its `type`. The payload of a test event may be any object: for a client that refuses what differs from its schema, generate from `openapi.json?webhooks=false`, where every payload is any object.';

const delivery = (type: EventType, components: Components): Json => {
  const name = pascal(type);
  return {
    operationId: `deliver${name}`,
    tags: ['Deliveries'],
    summary: `A delivery of ${type}`,
    description,
    security: [],
    parameters,
    requestBody: jsonBody(eventReference(type, components), exampleOf(type)),
    responses,
  };
};

/** Names the types of `webhooks` again: generators like oapi-codegen keep only types that a path reaches. */
export const deliveryCallback = (components: Components): Json => ({
  '{$request.body#/url}': {
    post: {
      operationId: 'deliver',
      summary: 'A delivery, or a verification challenge',
      description: 'See `webhooks` for each type.',
      security: [],
      parameters,
      requestBody: jsonBody({ $ref: '#/components/schemas/Delivery' }, exampleOf('client.created')),
      responses: {
        ...responses,
        '2XX': {
          ...echoed(components),
          description: 'Received. Only the answer to a challenge needs a body.',
        },
      },
    },
  },
});

const eventReference = (type: EventType | typeof challengeType, components: Components): Json => {
  if (type === challengeType) return components.refer('EndpointVerification', challengeEnvelope);
  const whole = eventDefinitions[type].payload;
  const payload = 'client_id' in whole.shape ? z.union([whole, erasedPayloadSchema]) : whole;
  return components.refer(`${pascal(type)}Event`, envelope.extend({ type: z.enum([type]), payload }));
};

const jsonBody = (schema: Json, example: Json): Json => ({
  required: true,
  content: { 'application/json': { schema, example } },
});

const sampleOf = (type: EventType) => sampleDelivery(type, 1001, new Date('2026-01-15T09:30:00.000Z'));
const exampleOf = (type: EventType): Json => sampleOf(type).event;

const challenge = (components: Components): Json => ({
  operationId: 'verifyEndpoint',
  tags: ['Deliveries'],
  summary: 'A verification challenge',
  description: challengeDescription,
  security: [],
  parameters,
  requestBody: jsonBody(eventReference(challengeType, components), {
    id: 1_768_469_400_000_123,
    type: challengeType,
    createdUtc: '2026-01-15T09:30:00.000Z',
    companyId: 1001,
    payload: { challenge: challengeExample },
  }),
  responses: {
    '2XX': echoed(components),
    default: { description: 'The receiver is not verified, and the subscription stays disabled.' },
  },
});

const echoed = (components: Components): Json => ({
  description: 'The receiver is verified, and the subscription is enabled.',
  content: {
    'application/json': {
      schema: components.refer('EndpointVerificationEcho', challengeEcho),
      example: { challenge: challengeExample },
    },
  },
});

const challengeDescription = `
A company may require endpoint verification. A subscription that is then created, or gets another URL, is disabled until its receiver has echoed a challenge: this POST, signed like a delivery. Answer it with a status of 200 to 299 within ${attemptTimeoutMs / 1000} seconds and the JSON \`{"challenge": "<payload.challenge>"}\`.

Causeway sends the challenge right after the create or the change, and again whenever somebody enables the subscription: with \`enabled: true\`, which answers 409 if the receiver does not echo it, or in the portal. The first challenge may arrive before you have stored the signing secret from the answer of the create. If your receiver refuses it for that reason, enable the subscription to get another one.
`.trim();

const challengeEcho = z.object({ challenge: z.string() });
const challengeEnvelope = envelope.extend({ type: z.enum([challengeType]), payload: challengeEcho });
const challengeExample = 'q1Zy0gXr7b9m4D2sVw8LkT5uPc3hNfEjQaRiOxGtBzM';

const durationText = (ms: number): string => {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
};

const description = `
A POST of the event to the URL of every enabled subscription of its company that lists its type. The same event may arrive more than once: \`id\` is the same each time. The order of events is not guaranteed.

**Signature.** \`X-Webhook-Signature\` is \`sha256=\` and the lowercase hex HMAC-SHA256 of \`<X-Webhook-Timestamp>.<raw body>\`, keyed with the signing secret as shown, \`whsec_\` included. While a replaced secret is still valid, there are two signatures, separated by a comma. Compare in constant time, and refuse timestamps older than 5 minutes. \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\` follow the Standard Webhooks specification.

**Success** is a final status of 200 to 299 within ${durationText(attemptTimeoutMs)}. A redirect is a failure. \`410\` disables the subscription at once.

**Retries.** A failed delivery is retried up to ${retryScheduleMs.length} times, after ${retryScheduleMs.map(durationText).join(', ')}, each ±10 %, unless the installation has another schedule. \`Retry-After\` of a 429 or 503 is honoured up to 8 h. Each attempt sends the same body with a new timestamp and signature.

**Auto-disable.** ${failuresUntilDisabled} counted failures in a row disable the subscription. From the ${failuresUntilProbing}th on, it gets one attempt at a time: the next after ${durationText(probeIntervalMs)}, doubling with each failure up to ${durationText(longestProbeWait * probeIntervalMs)}, and not before a \`Retry-After\` of at most ${durationText(longestProbeRetryAfterMs)}. A successful test delivery ends the wait. Attempts that were already under way are not counted. The waiting deliveries of a disabled subscription are held until they are released or discarded.

**Retention.** Events and attempts are kept for ${retentionDays} days, unless the installation has another number. A payload is at most ${maxPayloadBytes} bytes.
`.trim();

const header = (name: string, text: string, example: unknown, required = true): Json => ({
  name,
  in: 'header',
  required,
  description: text,
  schema: { type: 'string' },
  example,
});

const { headers: sampleHeaders } = sampleOf('client.created');

const parameters: readonly Json[] = [
  header('X-Webhook-Timestamp', 'Unix time in seconds of this attempt.', '1768469400'),
  header(
    'X-Webhook-Signature',
    '`sha256=` and lowercase hex, one for each valid secret, separated by commas.',
    sampleHeaders['X-Webhook-Signature'],
  ),
  header('X-Webhook-Id', 'ID of the event, for deduplication.', '90071'),
  header('X-Webhook-Event', 'Type of the event.', 'client.created'),
  header('X-Webhook-Attempt', 'Number of the attempt, from 1.', '1'),
  header('X-Webhook-Subscription', 'ID of the subscription.', '42'),
  header(
    'X-Webhook-Sequence',
    'Number of the event in its company, in the order of commits, as `GET /events` lists them; 0 for a test delivery, a challenge and a sample, which are in no log.',
    '7301',
  ),
  header(
    'X-Webhook-Origin',
    'Who caused the event: `key:<id>`, `member:<id>`, `operator` or `system`. Absent for events of releases that did not record it.',
    'key:12',
    false,
  ),
  header('X-Webhook-Replay', 'ID of the replay that caused the delivery, if one did.', '7', false),
  header('webhook-id', 'Standard Webhooks: ID of the event.', '90071'),
  header('webhook-timestamp', 'Standard Webhooks: Unix time in seconds of this attempt.', '1768469400'),
  header(
    'webhook-signature',
    'Standard Webhooks: `v1,` and base64, one for each valid secret, separated by spaces.',
    sampleHeaders['webhook-signature'],
  ),
];

const responses: Json = {
  '2XX': {
    description: 'Received. The body is kept for the delivery log, up to 16 KiB, and not interpreted.',
  },
  '410': { description: 'Gone: the subscription is disabled at once.' },
  default: { description: 'Failed: the delivery is retried. `Retry-After` of a 429 or 503 is honoured.' },
};
