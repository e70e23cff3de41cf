import { z } from 'zod';
import { defineOperation } from '../operation.ts';

const settings = {
  service: 'webhooks',
  deadlineMs: 5000,
  path: '/subscription-settings',
  query: null,
  params: {},
  errors: {},
} as const;

const fields = {
  /** Whether new subscriptions, and those whose URL changes, need endpoint verification. */
  verifyEndpoints: z.boolean(),
};
const record = {
  200: {
    description: 'The settings.',
    schema: z.object(fields),
    example: { verifyEndpoints: false },
  },
};

export const getSubscriptionSettings = defineOperation({
  audience: 'member',
  ...settings,
  id: 'getSubscriptionSettings',
  method: 'GET',
  role: 'viewer',
  summary: 'Settings for all subscriptions of the company',
  body: null,
  answers: record,
});

export const updateSubscriptionSettings = defineOperation({
  audience: 'member',
  ...settings,
  id: 'updateSubscriptionSettings',
  method: 'PATCH',
  repeat: 'once',
  role: 'admin',
  summary:
    'Turn endpoint verification on or off; when off, subscriptions that wait for it stay disabled but no longer need it',
  body: z.strictObject(fields),
  answers: record,
});
