import { z } from 'zod';
import { errorClasses } from '../delivery-states.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { id, instant } from '../schemas/values.ts';

/** What has not arrived, by subscription and the result of the last attempt; what was seen last comes first. */
export const listFailureCauses = defineOperation({
  ...memberDefaults,
  service: 'webhooks',
  method: 'GET',
  path: '/failure-causes',
  role: 'viewer',
  answers: {
    200: {
      schema: z.object({
        causes: z.array(
          z.object({
            subscriptionId: id,
            errorClass: z.enum(errorClasses).nullable().meta({ description: 'Null: never attempted.' }),
            state: z.enum(['waiting', 'held', 'failed', 'missed']),
            statusCode: z
              .int()
              .min(100)
              .max(599)
              .nullable()
              .meta({ description: 'If the receiver answered.' }),
            count: z.int().min(1),
            isMore: z.boolean().meta({ description: 'Whether there may be more than were counted.' }),
            firstSeenUtc: instant.meta({ description: 'When the oldest of the events happened.' }),
            lastSeenUtc: instant,
          }),
        ),
      }),
    },
  },
});
