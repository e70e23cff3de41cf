import { plural, span } from '../ui/format.ts';
import type { Answer } from './client.ts';
import type { keyPresetNames } from './queries.ts';

export type ApiKey = Answer<'listApiKeys'>['keys'][number];
export type KeyRequest = Answer<'listKeyRequests'>['requests'][number];
export type Scope = ApiKey['scopes'][number];

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
    label: 'Send tests and erase people',
    description:
      'Send test deliveries and test events, and erase a person for privacy. Includes no other permission.',
  },
};

/** What the form for a new key is filled with. */
export const keyPresets: Readonly<
  Record<(typeof keyPresetNames)[number], { readonly name: string; readonly scopes: readonly Scope[] }>
> = {
  form: { name: 'Website form', scopes: ['integrations:write'] },
  reporting: { name: 'Reporting', scopes: ['integrations:read', 'events:read'] },
  sync: {
    name: 'Full sync',
    scopes: ['integrations:read', 'integrations:write', 'events:read', 'webhooks:write'],
  },
  'agent-read': { name: 'Agent, read only', scopes: ['integrations:read', 'events:read'] },
  'agent-write': {
    name: 'Agent, read and write',
    scopes: ['integrations:read', 'integrations:write', 'events:read', 'webhooks:write'],
  },
};

/** In one or two words; the key's page lists them. */
export const permissionsOf = ({ scopes }: Pick<ApiKey, 'scopes'>): string => {
  if (scopes.length === Object.keys(scopeWords).length) return 'Full access';
  if (scopes.every((scope) => scope.endsWith(':read'))) return 'Read only';
  return scopes.length === 1 ? scopeWords[scopes[0]!].label : plural(scopes.length, '# permission');
};

type Dated = Pick<ApiKey, 'isActive' | 'expiresUtc'>;

const leftMs = ({ expiresUtc }: Dated, now: number): number =>
  expiresUtc === null ? Number.POSITIVE_INFINITY : Date.parse(expiresUtc) - now;

export const expiresSoon = (key: Dated, now: number): boolean => key.isActive && leftMs(key, now) < soonMs;

const soonMs = 14 * 86_400_000;

export const keyState = (
  key: Dated,
  now: number,
): { readonly tone: 'good' | 'warn' | 'neutral'; readonly label: string } => {
  if (leftMs(key, now) <= 0) return { tone: 'neutral', label: 'Expired' };
  if (!key.isActive) return { tone: 'neutral', label: 'Revoked' };
  if (!expiresSoon(key, now)) return { tone: 'good', label: 'Active' };
  const left = span(leftMs(key, now));
  return { tone: 'warn', label: `Expires in ${left}` };
};

/** The first call to make with a key, by the first of these scopes that it has: reading before writing. */
const calls: readonly (readonly [Scope, path: string, body?: object])[] = [
  ['integrations:read', '/integrations/lookups/employees'],
  ['events:read', '/events'],
  ['webhooks:write', '/webhooks/subscriptions'],
  ['admin', '/events/test', { type: 'client.created' }],
  [
    'integrations:write',
    '/integrations/leads',
    { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', external_id: 'sample-1' },
  ],
];

export const sampleCall = (baseUrl: string, key: string, scopes: readonly Scope[]): string => {
  const [, path, body] = calls.find(([scope]) => scopes.includes(scope)) ?? calls[0]!;
  const lines = [
    `curl ${baseUrl}${path}`,
    `  -H "X-Api-Key: $CAUSEWAY_KEY"`,
    ...(body === undefined
      ? []
      : [`  -H "Content-Type: application/json"`, `  -d '${JSON.stringify(body)}'`]),
  ];
  return `export CAUSEWAY_KEY=${key}\n${lines.join(' \\\n')}`;
};
