import type { Scope } from './scopes.ts';

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

/** Shell commands that make a call which the key's scopes allow. The key itself occurs once. */
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
