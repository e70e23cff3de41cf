import { z } from 'zod';
import { defineOperation, memberDefaults } from '../operation.ts';

const settings = { ...memberDefaults, service: 'webhooks', path: '/subscription-settings' } as const;

const fields = {
  /** Whether new subscriptions, and those whose URL changes, need endpoint verification. */
  verifyEndpoints: z.boolean(),
};
const record = {
  200: { schema: z.object(fields) },
};

export const getSubscriptionSettings = defineOperation({
  ...settings,
  id: 'getSubscriptionSettings',
  method: 'GET',
  role: 'viewer',
  summary: 'Settings for all subscriptions of the company',
  answers: record,
});

export const updateSubscriptionSettings = defineOperation({
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
