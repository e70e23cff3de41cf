import { execFileSync } from 'node:child_process';
import { settingsFile } from '@causeway/proto';
import { expect, test } from 'vitest';
import type { ApiKey } from '../keys/scopes.ts';
import type { Subscription } from '../subscriptions/subscriptions.ts';
import { curlOf, settingsOf } from './settings.ts';

const subscription = (id: number, name: string, more: Partial<Subscription> = {}): Subscription =>
  ({
    ...{ id, name, url: 'https://hooks.example.com/crm', description: null, enabled: true },
    ...{ eventTypes: ['client.created', 'affiliate.created'], managedBy: null, isAgent: false, ...more },
  }) as Subscription;
const key = (id: number, name: string, isActive: boolean): ApiKey =>
  ({
    id,
    name,
    isActive,
    scopes: ['events:read'],
    note: null,
    expiresUtc: null,
    networks: [],
  }) as unknown as ApiKey;

const hostile = `it's $(touch x) \`id\` "quoted"`;
const exported = settingsOf(
  [
    subscription(3, 'b', { managedBy: 'Zapier' }),
    subscription(2, 'b', { headerNames: ['X-Token'], pace: { limit: 5, per: 'second' } }),
    subscription(1, hostile, { description: 'two\nlines' }),
    subscription(4, 'a', { isAgent: true }),
    subscription(5, 'B'),
  ],
  [key(2, 'Zapier', true), key(1, 'Zapier', false), key(3, 'Agent', true)],
);

test('an export meets the schema, in the order of names, without what a tool manages or was revoked', () => {
  expect(settingsFile.safeParse(exported).error).toBeUndefined();
  expect(exported.subscriptions.map(({ name }) => name)).toEqual(['B', 'b', hostile]);
  expect(exported.subscriptions[1]).toMatchObject({
    eventTypes: ['affiliate.created', 'client.created'],
    headerNames: ['X-Token'],
    pace: { limit: 5, per: 'second' },
  });
  expect(exported.keys.map(({ name }) => name)).toEqual(['Agent', 'Zapier']);
});

test('a shell passes on names of the script as they are', () => {
  const script = curlOf(exported, 'https://crm.example.com/api/v1');
  const run = `curl() { printf '%s' "\${@: -1}"; echo; }\n${script}`;
  const bodies = execFileSync('bash', ['-c', run], { encoding: 'utf8' }).trim().split('\n');
  expect(bodies.map((body) => JSON.parse(body))).toEqual(
    exported.subscriptions.map(({ headerNames, ...body }) => body),
  );
  expect(script).toContain('# Add "headers" with values for: X-Token');
});
