import { z } from 'zod';
import { buckets, defineOperation, memberDefaults } from '../operation.ts';
import { count, id, instant } from '../schemas/values.ts';
import { rangeParameter, ranges } from './fields.ts';

const overview = { ...memberDefaults, role: 'viewer', method: 'GET' } as const;

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

/** Requests by bucket and by key, against the limits, with a delay of about ten seconds. */
export const getUsage = defineOperation({
  ...overview,
  service: 'access',
  id: 'getUsage',
  path: '/usage',
  query: z.strictObject({ range: rangeParameter }),
  answers: {
    200: {
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
    },
  },
});

/** When the step was first taken; null: not yet. */
const step = instant.nullable();

export const getFirstSteps = defineOperation({
  ...overview,
  service: 'access',
  id: 'getFirstSteps',
  path: '/first-steps',
  answers: { 200: { schema: z.object({ keyCreatedUtc: step, firstCallUtc: step }) } },
});

export const getFirstDeliverySteps = defineOperation({
  ...overview,
  service: 'webhooks',
  id: 'getFirstDeliverySteps',
  path: '/first-steps/deliveries',
  answers: {
    200: {
      schema: z.object({
        subscriptionCreatedUtc: step,
        testSucceededUtc: step,
        deliverySucceededUtc: step,
      }),
    },
  },
});

/** Subscriptions that need attention: disabled by the service, failing, not verified, or over the quota. */
export const getAttention = defineOperation({
  ...overview,
  service: 'webhooks',
  id: 'getAttention',
  path: '/attention',
  answers: {
    200: {
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
        /** Enabled subscriptions whose held deliveries or missed events wait for a member's decision. */
        undecided: z.object({
          subscriptions: count,
          held: count,
          missed: count,
          firstId: id.nullable(),
        }),
      }),
    },
  },
});
