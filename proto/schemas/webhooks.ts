import { z } from 'zod';
import { errorClasses } from '../delivery-states.ts';
import { type EventType, eventTypes, isEventType, maxPayloadBytes } from '../events.ts';
import { knownRules, subscriptionChanges, subscriptionRulesAnswer } from './subscription-rules.ts';
import {
  codePoints,
  echo,
  type Fault,
  fieldName,
  id,
  instant,
  issueOf,
  optionalText,
  rule,
  valueRule,
} from './values.ts';

const maxUrlCharacters = 500;

/** Whether plain http and private hosts are allowed is configured, and checked by the service. */
export const targetUrl = z
  .string()
  .trim()
  .check(valueRule((url) => urlFault(url)))
  .meta({
    format: 'uri',
    maxLength: maxUrlCharacters,
    description:
      'Absolute and https (http only where the installation allows it), with a host, and without user info, spaces or backslashes. The port is 443 or 8443, unless the installation allows others.',
  });

const urlFault = (value: string): Fault | undefined => {
  if (value === '') return { code: 'required', message: `${fieldName} is required` };
  const characters = codePoints(value);
  if (characters > maxUrlCharacters) {
    const message = `URL exceeds ${maxUrlCharacters} characters (actual: ${characters})`;
    return { code: 'too_long', message };
  }
  const problem = urlProblem(value);
  return problem ? { code: 'invalid_characters', message: problem } : undefined;
};

const urlProblem = (value: string): string | undefined => {
  const [, authority] = urlShape.exec(value) ?? [];
  const url = authority ? URL.parse(value) : null;
  if (/[\\\s\p{Cc}]/u.test(value))
    return 'invalid URL: it must not contain spaces, control characters or backslashes';
  if (!authority || !url?.hostname)
    return 'invalid URL: it must be absolute, begin with https:// and name a host, as https://example.com/hook does';
  if (authority.includes('@'))
    return 'invalid URL: it must not have a user name or password; deliveries are proven by their signature';
  return url.port === '0' ? 'invalid URL: the port must be from 1 to 65535' : undefined;
};

/** Refuses what the WHATWG parser would repair: line breaks, backslashes, slashes before the host. */
const urlShape = /^https?:\/\/([^/?#\\\s\p{Cc}]+)(?:[/?#][^\\\s\p{Cc}]*)?$/iu;

export const knownEventType = z
  .string()
  .min(1, { error: `${fieldName} is required` })
  .check(valueRule((type) => (type === '' ? undefined : typeFault(type))))
  .meta({ enum: [...eventTypes] })
  .transform((type) => type as EventType);

const typeFault = (type: string): Fault | undefined => {
  if (isEventType(type)) return undefined;
  const extra = { hint: `the event types are ${eventTypes.join(', ')}` };
  return { code: 'out_of_range', message: `unknown event type: ${echo(type)}`, extra };
};

/** A query parameter: one type, or several separated by commas. */
export const knownEventTypes = z
  .string()
  .transform((value, context): readonly EventType[] => {
    const types = value.split(',').map((type) => type.trim());
    const fault = types.map(typeFault).find((one) => one !== undefined);
    if (!fault) return [...new Set(types as EventType[])];
    context.issues.push(issueOf(value, fault));
    return z.NEVER;
  })
  .meta({
    type: 'string',
    description: `One event type, or several separated by commas: ${eventTypes.map((type) => `\`${type}\``).join(', ')}.`,
  });

const noTypes = 'at least one event type is required';

export const subscribedTypes = z
  .array(knownEventType, { error: (issue) => (issue.input == null ? noTypes : undefined) })
  .min(1, { error: noTypes })
  .max(100)
  .transform((types) => [...new Set(types)]);

export const subscriptionName = optionalText({ max: 100 });
export const subscriptionDescription = optionalText({ max: 2000 });
export const managedBy = optionalText({
  max: 100,
  description:
    'Name of the tool that owns the subscription. Such a subscription cannot be edited through this interface, and is switched off when the API key that created it is revoked.',
});

export const newSubscription = {
  url: targetUrl,
  eventTypes: subscribedTypes,
  enabled: z.boolean().default(true),
  name: subscriptionName,
  description: subscriptionDescription,
  ...subscriptionChanges,
};

/** The value that a form showed for each field that it changes. */
export const basedOn = z
  .strictObject({
    url: z.string(),
    eventTypes: z.array(z.string()).max(100),
    name: z.string().nullable(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    ...knownRules,
  })
  .partial();

export const eventPayload = z
  .record(z.string(), z.unknown(), {
    error: (issue) => {
      if (issue.input === undefined) return undefined;
      return typeof issue.input === 'string'
        ? 'payload must be valid JSON: an object, not a string; send it without quotes'
        : `${fieldName} must be a JSON object`;
    },
  })
  .check(
    valueRule((payload) => {
      const bytes = Buffer.byteLength(JSON.stringify(payload));
      if (bytes <= maxPayloadBytes) return undefined;
      return { code: 'too_long', message: `payload exceeds ${maxPayloadBytes} bytes (actual: ${bytes})` };
    }),
  );

export const eventTypeAnswer = z.enum(eventTypes);

export const subscription = z.object({
  id,
  name: z.string().nullable(),
  url: z.string(),
  eventTypes: z.array(eventTypeAnswer).min(1),
  enabled: z.boolean(),
  managedBy: z.string().nullable(),
  description: z.string().nullable(),
  createdUtc: instant,
  updatedUtc: instant,
  disabledReason: z.string().nullable(),
  consecutiveFailures: z.int().min(0).meta({
    description:
      'Consecutive failed attempts, over all events. A success resets it to 0, and 20 disable the subscription. From 5 on, attempts are made one at a time, and each counts. Attempts that were already under way at that point do not raise the count above 5, so more attempts may have failed than are counted.',
  }),
  heldDeliveries: z.int().min(0).meta({
    description:
      'Deliveries that are held since the subscription was disabled, until they are released or discarded. May be slightly too high for a minute after disabling, until attempts that were under way have ended.',
  }),
  ...subscriptionRulesAnswer,
});

const { id: _, ...shownShape } = subscription.shape;
const {
  name,
  url,
  eventTypes: __,
  enabled,
  description,
  conditions,
  pace,
  paused,
  ...readOnlyShape
} = shownShape;
export const subscriptionReadOnly = Object.keys(readOnlyShape) as (keyof typeof readOnlyShape)[];

export const subscriptionWithSecret = subscription.extend({
  signingSecret: z.string().meta({ description: 'Shown in this answer only.' }),
});

export const subscriptionExample = {
  id: 42,
  name: 'Billing',
  url: 'https://hooks.example.com/causeway',
  eventTypes: ['client.created', 'client.status_changed'],
  enabled: true,
  managedBy: null,
  description: null,
  createdUtc: '2026-01-15T09:30:00.000Z',
  updatedUtc: '2026-01-15T09:30:00.000Z',
  disabledReason: null,
  consecutiveFailures: 0,
  heldDeliveries: 0,
};

/** The 200 of a create (contract, "Subscriptions"). */
export const savedAgain = {
  description:
    'The tool has this subscription already. Its signing secret is the one that this API key was told before, or a new one if another key had the subscription.',
  schema: subscriptionWithSecret,
  example: { ...subscriptionExample, managedBy: 'n8n' },
};

/** In the order of the bytes of a delivery. */
export const envelope = z.object({
  id,
  type: eventTypeAnswer,
  createdUtc: instant,
  companyId: id,
  payload: z.record(z.string(), z.unknown()),
});

/** With `include=meta`. */
export const eventWithMeta = z.object({
  event: envelope,
  origin: z.string().nullable().meta({
    description:
      'Who caused it: `key:<id>`, `member:<id>`, `operator` or `system`. Null: the release that wrote the event did not record it.',
  }),
  sequence: z
    .int()
    .min(1)
    .meta({ description: 'Number of the event in its company, in the order of commits.' }),
});

export const envelopeExample = {
  id: 90_071,
  type: 'client.created',
  createdUtc: '2026-01-15T09:30:00.000Z',
  companyId: 1001,
  payload: {
    client_id: 1042,
    first_name: 'Katherine',
    last_name: 'Johnson',
    email: 'katherine@example.com',
    phone: '+1 555 010 4477',
    status: 'Client - Active',
    created_date: '2026-01-15T09:30:00.000Z',
  },
};

/** The 409 of a rotation (contract, "Subscriptions"). */
export const overlapLasts = {
  description:
    'The overlap of an earlier rotation lasts until `previousSecretUntil`, and `overlapHours: 0` was not sent.',
  example: {
    error:
      'the previous secret is valid until 2026-01-16T09:30:00.000Z; rotate after that, or send overlapHours 0 to end it now',
    previousSecretUntil: '2026-01-16T09:30:00.000Z',
  },
};

/** The 409 of enabling (contract, "Endpoint verification"). */
export const notEchoed = {
  description:
    'The company requires endpoint verification, and the receiver did not echo the challenge. Nothing was changed.',
  example: { error: 'endpoint verification failed: The receiver answered 404.' },
};

export const testDelivery = z
  .strictObject({
    eventType: optionalText({
      max: 100,
      description: "One of the subscription's event types; the first one by default.",
    }),
    useSamplePayload: z.boolean().default(true),
    samplePayload: eventPayload
      .optional()
      .meta({ description: 'Sent unchanged, instead of a generated sample.' }),
    statusOverride: optionalText({ max: 100, description: 'Becomes `metadata.status`.' }),
  })
  .check(
    rule(({ useSamplePayload, samplePayload }) =>
      useSamplePayload !== false || samplePayload
        ? undefined
        : {
            field: 'samplePayload',
            code: 'required',
            message: 'samplePayload is required when useSamplePayload is false',
            extra: { hint: 'send samplePayload, or leave useSamplePayload out to have one generated' },
          },
    ),
  );

export const testResult = z.object({
  success: z.boolean().meta({ description: 'True if the receiver answered 2xx within the timeout.' }),
  statusCode: z.int().nullable().meta({ description: 'null if there was no answer.' }),
  elapsedMs: z.int().min(0),
  responseBodyTruncated: z.boolean(),
  responseBody: z.string(),
  targetUrlUsed: z.string().meta({
    description: 'The URL that was called, normalised: with the host in ASCII and without a fragment.',
  }),
  error: z.enum(errorClasses).nullable().meta({
    description:
      'Why it failed; null after a 2xx. `dns`: the host does not resolve to an address that deliveries can go to; `connect`: no connection; `tls`: no secure connection; `timeout`: no answer in time; `reset`: the connection ended early or did not speak HTTP; `redirect`: a 3xx, which is not followed; `blocked_address`: deliveries may not go to this URL; `status`: any other status.',
  }),
  message: z
    .string()
    .nullable()
    .meta({ description: 'The reason as a sentence for people; null after a 2xx.' }),
});

export const testResultExample = {
  success: true,
  statusCode: 200,
  elapsedMs: 84,
  responseBodyTruncated: false,
  responseBody: 'ok',
  targetUrlUsed: 'https://hooks.example.com/causeway',
  error: null,
  message: null,
};

export const toolManaged = {
  description: 'Or the subscription is managed by a tool.',
  example: {
    error: 'the subscription is managed by zapier and cannot be edited here',
    managed_by: 'zapier',
    is_tool_managed: true,
  },
};

export const cannotRelease = {
  description: 'The subscription is disabled, or held deliveries are being released, discarded or replayed.',
  example: { error: 'the subscription is disabled; enable it first' },
};

export const cannotDiscard = {
  description: 'Held deliveries are being released, discarded or replayed.',
  example: {
    error:
      'held deliveries are being released for this subscription (7); wait for it, or cancel it in the portal',
  },
};

export const testRefused = {
  description: 'The subscription does not have the event type, or a field is not valid.',
  example: {
    error: 'the subscription does not include the event type payment.failed',
    subscribedEventTypes: ['client.created', 'client.status_changed'],
  },
};
