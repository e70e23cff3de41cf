import { z } from 'zod';
import { buckets, defineOperation } from '../operation.ts';
import { count, id, instant } from '../schemas/values.ts';
import { rangeParameter, ranges } from './fields.ts';

const overview = {
  role: 'viewer',
  method: 'GET',
  deadlineMs: 5000,
  query: null,
  params: {},
  body: null,
  errors: {},
} as const;

const counts = {
  /** Requests within the limit, whatever the service answered. */
  answered: count,
  /** Requests refused with 429. */
  limited: count,
  /** Answered requests with a 5xx. */
  failed: count,
};
const ofBucket = {
  bucket: z.enum(buckets),
  limitPerMinute: z.int().min(1),
  ...counts,
  /** Requests of one key in its busiest minute, to compare with the limit. */
  peakPerMinute: count,
};
const example = {
  bucket: 'read',
  limitPerMinute: 60,
  answered: 940,
  limited: 12,
  failed: 0,
  peakPerMinute: 60,
};

export const getUsage = defineOperation({
  audience: 'member',
  ...overview,
  service: 'access',
  id: 'getUsage',
  path: '/usage',
  summary: 'Requests by bucket and by key, against the limits, with a delay of about ten seconds',
  query: z.strictObject({ range: rangeParameter }),
  answers: {
    200: {
      description: 'The usage.',
      schema: z.object({
        range: z.enum(ranges),
        fromUtc: instant,
        untilUtc: instant,
        stepMinutes: z.int().min(1),
        buckets: z.array(
          z.object({
            ...ofBucket,
            /** One for each step of the range, in order, including empty ones. */
            points: z.array(z.object({ utc: instant, ...counts })),
          }),
        ),
        /** Keys with requests in the range, the busiest first. */
        keys: z.array(
          z.object({
            id,
            name: z.string(),
            masked: z.string(),
            isActive: z.boolean(),
            buckets: z.array(z.object(ofBucket)),
          }),
        ),
      }),
      example: {
        range: '1h',
        fromUtc: '2026-01-15T08:31:00.000Z',
        untilUtc: '2026-01-15T09:31:00.000Z',
        stepMinutes: 1,
        buckets: [
          {
            ...example,
            points: [{ utc: '2026-01-15T09:30:00.000Z', answered: 60, limited: 12, failed: 0 }],
          },
        ],
        keys: [{ id: 12, name: 'Zapier', masked: 'crm_1001_…x7Qa', isActive: true, buckets: [example] }],
      },
    },
  },
});

/** When the step was first taken; null: not yet. */
const step = instant.nullable();

export const getFirstSteps = defineOperation({
  audience: 'member',
  ...overview,
  service: 'access',
  id: 'getFirstSteps',
  path: '/first-steps',
  summary: 'First steps with the interface, from real traffic',
  answers: {
    200: {
      description: 'The steps.',
      schema: z.object({ keyCreatedUtc: step, firstCallUtc: step }),
      example: { keyCreatedUtc: '2026-01-15T09:30:00.000Z', firstCallUtc: null },
    },
  },
});

export const getFirstDeliverySteps = defineOperation({
  audience: 'member',
  ...overview,
  service: 'webhooks',
  id: 'getFirstDeliverySteps',
  path: '/first-steps/deliveries',
  summary: 'First steps with deliveries, from real traffic',
  answers: {
    200: {
      description: 'The steps.',
      schema: z.object({
        subscriptionCreatedUtc: step,
        testSucceededUtc: step,
        deliverySucceededUtc: step,
      }),
      example: {
        subscriptionCreatedUtc: '2026-01-15T09:30:00.000Z',
        testSucceededUtc: null,
        deliverySucceededUtc: null,
      },
    },
  },
});

export const getAttention = defineOperation({
  audience: 'member',
  ...overview,
  service: 'webhooks',
  id: 'getAttention',
  path: '/attention',
  summary:
    'Subscriptions that need attention: disabled by the service, failing, not verified, or over the quota',
  answers: {
    200: {
      description: 'The counts, and the subscriptions that the service disabled, the latest first.',
      schema: z.object({
        offCount: count,
        off: z
          .array(
            z.object({
              id,
              name: z.string().nullable(),
              url: z.string(),
              /** Events since then were not delivered. */
              disabledUtc: instant,
              held: count,
            }),
          )
          .max(20),
        failingCount: count.meta({ description: 'Enabled ones that get one attempt at a time.' }),
        unverifiedCount: count.meta({ description: 'Those that wait for verification.' }),
        /** Events that enabled subscriptions missed at the quota of pending deliveries. */
        missedAtQuota: count,
      }),
      example: {
        offCount: 1,
        off: [
          {
            id: 42,
            name: 'Billing',
            url: 'https://hooks.example.com/causeway',
            disabledUtc: '2026-01-15T08:14:00.000Z',
            held: 12,
          },
        ],
        failingCount: 0,
        unverifiedCount: 0,
        missedAtQuota: 0,
      },
    },
  },
});
