import { plural, t } from '@lingui/core/macro';
import type { Answer } from '../../api/client.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { span } from '../../ui/format.ts';
import type { keyPresetNames } from '../queries.ts';

export type ApiKey = Answer<'listApiKeys'>['keys'][number];
export type KeyRequest = Answer<'listKeyRequests'>['requests'][number];
export type Scope = ApiKey['scopes'][number];

export const scopeWords = onFirstUse(
  (): Readonly<Record<Scope, { readonly label: string; readonly description: string }>> => ({
    'integrations:read': {
      label: t`Look up records`,
      description: t`Read employees, affiliates and statuses; find leads and clients.`,
    },
    'integrations:write': {
      label: t`Create and change records`,
      description: t`Create and update leads, clients and affiliates, change a status, add notes.`,
    },
    'events:read': { label: t`Read events`, description: t`Read the event log, with payloads.` },
    'webhooks:write': {
      label: t`Manage webhooks`,
      description: t`List, create, change and delete subscriptions, and rotate their secrets.`,
    },
    admin: {
      label: t`Send tests and erase people`,
      description: t`Send test deliveries and test events, and erase a person for privacy. Includes no other permission.`,
    },
  }),
);

/** What the form for a new key is filled with. */
export const keyPresets = onFirstUse(
  (): Readonly<
    Record<(typeof keyPresetNames)[number], { readonly name: string; readonly scopes: readonly Scope[] }>
  > => ({
    form: { name: t`Website form`, scopes: ['integrations:read', 'integrations:write'] },
    reporting: { name: t`Reporting`, scopes: ['integrations:read', 'events:read'] },
    sync: {
      name: t`Full sync`,
      scopes: ['integrations:read', 'integrations:write', 'events:read', 'webhooks:write'],
    },
    'agent-read': { name: t`Agent, read only`, scopes: ['integrations:read', 'events:read'] },
    'agent-write': {
      name: t`Agent, read and write`,
      scopes: ['integrations:read', 'integrations:write', 'events:read', 'webhooks:write'],
    },
  }),
);

/** In one or two words; the key's page lists them. */
export const permissionsOf = ({ scopes }: Pick<ApiKey, 'scopes'>): string => {
  if (scopes.length === Object.keys(scopeWords()).length) return t`Full access`;
  if (scopes.every((scope) => scope.endsWith(':read'))) return t`Read only`;
  return scopes.length === 1
    ? scopeWords()[scopes[0]!].label
    : plural({ count: scopes.length }, { one: '# permission', other: '# permissions' });
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
  if (leftMs(key, now) <= 0) return { tone: 'neutral', label: t`Expired` };
  if (!key.isActive) return { tone: 'neutral', label: t`Revoked` };
  if (!expiresSoon(key, now)) return { tone: 'good', label: t`Active` };
  const left = span(leftMs(key, now));
  return { tone: 'warn', label: t`Expires in ${left}` };
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
