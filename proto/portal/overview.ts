import { z } from 'zod';
import { buckets, defineOperation, memberDefaults } from '../operation.ts';
import { idParameter } from '../schemas/fields.ts';
import { count, id, instant } from '../schemas/values.ts';
import { instantParameter, rangeParameter, ranges } from './fields.ts';

const overview = { ...memberDefaults, role: 'viewer', method: 'GET' } as const;

const counts = {
  /** Within the limit, whatever the service answered. */
  answered: count,
  limited: count,
  failed: count,
};
const ofBucket = {
  bucket: z.enum(buckets),
  limitPerMinute: z.int().min(1),
  ...counts,
  /** In the busiest minute of one key, to compare with the limit. */
  peakPerMinute: count,
};

/** With a delay of about ten seconds. */
export const getUsage = defineOperation({
  ...overview,
  service: 'access',
  path: '/usage',
  query: z.strictObject({
    range: rangeParameter,
    keyId: idParameter.optional().meta({ description: 'Only requests of this key.' }),
  }),
  answers: {
    200: {
      schema: z.object({
        range: z.enum(ranges),
        buckets: z.array(
          z.object({
            ...ofBucket,
            points: z.array(z.object({ utc: instant, ...counts })),
          }),
        ),
        /** The busiest first. */
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

/** From the request log, within its seven days: by key and operation, the most refused first. */
export const listUsage = defineOperation({
  ...overview,
  service: 'access',
  path: '/usage/operations',
  query: z.strictObject({
    since: instantParameter,
    until: instantParameter,
    keyId: idParameter.optional(),
    only: z.enum(['refused', 'failed']).optional(),
  }),
  answers: {
    200: {
      schema: z.object({
        rows: z.array(
          z.object({
            keyId: id,
            keyName: z.string(),
            method: z.string(),
            /** Empty if it is unknown, for example of a path that no operation has. */
            operation: z.string(),
            path: z.string().nullable(),
            requests: count,
            /** Over a rate limit. */
            refused: count,
            failed: count,
            lastRefusedUtc: instant.nullable(),
          }),
        ),
        /** There are more rows than one answer holds. */
        isCut: z.boolean(),
      }),
    },
  },
});

const step = instant.nullable();

export const getFirstSteps = defineOperation({
  ...overview,
  service: 'access',
  path: '/first-steps',
  answers: { 200: { schema: z.object({ keyCreatedUtc: step, firstCallUtc: step }) } },
});

export const getFirstDeliverySteps = defineOperation({
  ...overview,
  service: 'webhooks',
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

/** Disabled by the service, failing, not verified, or over the quota. */
export const getAttention = defineOperation({
  ...overview,
  service: 'webhooks',
  path: '/attention',
  answers: {
    200: {
      schema: z.object({
        offCount: count,
        onlyOffId: id.nullable().meta({ description: 'The one that is off, if there is only one.' }),
        failingCount: count.meta({ description: 'Enabled ones that get one attempt at a time.' }),
        unverifiedCount: count.meta({ description: 'Those that wait for verification.' }),
        /** Enabled subscriptions whose held deliveries or missed events wait for a member's decision. */
        undecided: z.object({
          subscriptions: count,
          held: count,
          missed: count,
        }),
      }),
    },
  },
});
