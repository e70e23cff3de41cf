import type { Answer } from '../../api/types.ts';

export type ApiKey = Answer<'listApiKeys'>['keys'][number];
export type Scope = ApiKey['scopes'][number];

/** What each scope allows, in words for non-developers. */
export const scopeWords: Readonly<Record<Scope, { readonly label: string; readonly description: string }>> = {
  'integrations:read': {
    label: 'Look up records',
    description: 'Read employees, affiliates and statuses; find leads and clients.',
  },
  'integrations:write': {
    label: 'Create and change records',
    description: 'Create and update leads, clients and affiliates, change a status, add notes.',
  },
  'events:read': { label: 'Read events', description: 'Read the event log, with payloads.' },
  'webhooks:write': {
    label: 'Manage webhooks',
    description: 'List, create, change and delete subscriptions, and rotate their secrets.',
  },
  admin: {
    label: 'Send tests',
    description: 'Send test deliveries and test events. Includes no other permission.',
  },
};
