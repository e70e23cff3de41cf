import { z } from 'zod';
import { errorClasses } from '../delivery-states.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { id, instant } from '../schemas/values.ts';

const causes = { ...memberDefaults, service: 'webhooks' } as const;

const cause = {
  subscriptionId: id,
  errorClass: z.enum(errorClasses),
  statusCode: z.int().min(100).max(599).nullable().meta({ description: 'If the receiver answered.' }),
};

/** Failing deliveries by subscription and the result of their last attempt; what was seen last comes first. */
export const listFailureCauses = defineOperation({
  ...causes,
  id: 'listFailureCauses',
  method: 'GET',
  path: '/failure-causes',
  role: 'viewer',
  answers: {
    200: {
      schema: z.object({
        causes: z.array(
          z.object({
            ...cause,
            count: z.int().min(1),
            isMore: z.boolean().meta({ description: 'Whether there may be more than were counted.' }),
            firstSeenUtc: instant.meta({ description: 'When the oldest of the events happened.' }),
            lastSeenUtc: instant,
            acknowledgedUtc: instant.nullable(),
            acknowledgedBy: z.string().nullable(),
          }),
        ),
      }),
    },
  },
});

/** Tells the others that somebody looks after it. Seen again later, the cause shows so. */
export const acknowledgeFailureCause = defineOperation({
  ...causes,
  id: 'acknowledgeFailureCause',
  method: 'POST',
  path: '/failure-causes/acknowledge',
  role: 'developer',
  repeat: 'harmless',
  body: z.strictObject({ ...cause, acknowledged: z.boolean() }),
  answers: { 204: { schema: null } },
});
