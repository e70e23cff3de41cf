import { z } from 'zod';
import { newSubscription } from '../schemas/webhooks.ts';
import { createApiKey } from './keys.ts';

const { headers: _, ...subscriptionFields } = newSubscription;

/** The file that the portal exports. It has no secret: neither signing secrets nor keys, and only the names of headers. */
export const settingsFile = z.strictObject({
  version: z.literal(1),
  subscriptions: z.array(
    z.strictObject({
      ...subscriptionFields,
      headerNames: z.array(z.string()).optional().meta({ description: 'Their values are secret.' }),
    }),
  ),
  keys: z.array(createApiKey.body),
});

export type SettingsFile = z.input<typeof settingsFile>;

export const settingsSchemaText = (): string =>
  `${JSON.stringify(z.toJSONSchema(settingsFile, { io: 'input' }), null, 2)}\n`;
