import { z } from 'zod';
import { defineOperation, maxBodyBytes, memberDefaults } from '../operation.ts';
import { headerNamesAnswer } from '../schemas/subscription-rules.ts';
import { newSubscription } from '../schemas/webhooks.ts';
import { newKey } from './keys.ts';

const { headers: _, ...subscriptionFields } = newSubscription;

/**
 * The file that the portal exports and imports. It has no secret: neither signing secrets nor keys, and only the names of headers.
 * A field that is left out has its default.
 */
export const settingsFile = z.strictObject({
  $schema: z.string().max(500).optional(),
  version: z.literal(1),
  subscriptions: z.array(z.strictObject({ ...subscriptionFields, headerNames: headerNamesAnswer })),
  keys: z.array(z.strictObject(newKey)),
});

export type SettingsFile = z.input<typeof settingsFile>;

export const settingsSchemaText = (): string =>
  `${JSON.stringify(z.toJSONSchema(settingsFile, { io: 'input' }), null, 2)}\n`;

const steps = z.int().min(0).max(10_000);

/** Says in the audit log that the changes that follow are one import: the portal makes them one by one. */
export const beginImport = defineOperation({
  ...memberDefaults,
  service: 'webhooks',
  method: 'POST',
  path: '/settings/imports',
  role: 'developer',
  body: z.strictObject({ created: steps, changed: steps }),
  answers: { 204: { schema: null } },
});

/** Answers the file as its values are stored, trimmed for example, so that it can be compared with the present settings. */
export const checkSettings = defineOperation({
  ...memberDefaults,
  service: 'webhooks',
  method: 'POST',
  repeat: 'harmless',
  path: '/settings/check',
  role: 'viewer',
  maxBodyBytes,
  body: settingsFile,
  answers: { 200: { schema: settingsFile } },
});
