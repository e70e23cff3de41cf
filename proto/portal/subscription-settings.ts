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
  answers: record,
});

/**
 * Turns endpoint verification on or off; when off, subscriptions that wait for it stay disabled but no longer need it.
 */
export const updateSubscriptionSettings = defineOperation({
  ...settings,
  id: 'updateSubscriptionSettings',
  method: 'PATCH',
  repeat: 'once',
  role: 'admin',
  body: z.strictObject(fields),
  answers: record,
});
