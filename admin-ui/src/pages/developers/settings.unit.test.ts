import { settingsFile } from '@causeway/proto';
import { expect, test } from 'vitest';
import type { ApiKey } from '../../model/scopes.ts';
import type { Subscription } from '../../model/subscriptions.ts';
import { type CheckedSettings, type Present, settingsOf } from './settings.ts';
import { planOf } from './settings-plan.ts';

const subscription = (id: number, name: string | null, more: Partial<Subscription> = {}): Subscription =>
  ({
    ...{ id, name, url: 'https://hooks.example.com/crm', description: null, enabled: true },
    ...{ eventTypes: ['client.created', 'affiliate.created'], managedBy: null, ...more },
  }) as Subscription;
const key = (id: number, name: string): ApiKey =>
  ({
    id,
    name,
    scopes: ['events:read'],
    note: null,
    expiresUtc: null,
    networks: [],
  }) as unknown as ApiKey;

const hostile = `it's $(touch x) \`id\` "quoted"`;
const present: Present = {
  subscriptions: [
    subscription(3, 'b', { managedBy: 'Zapier' }),
    subscription(2, 'b', { headerNames: ['X-Token'], pace: { limit: 5, per: 'second' }, paused: true }),
    subscription(1, hostile, { description: 'two\nlines' }),
    subscription(5, 'B', { conditions: [{ field: 'email', exists: true }] }),
  ],
  keys: [key(2, 'Zapier'), key(3, 'Agent')],
};
const exported = settingsOf(present, 'https://crm.example.com/docs/settings.schema.json');

test('an export meets the schema, in the order of names, without what a tool manages', () => {
  expect(settingsFile.safeParse(exported).error).toBeUndefined();
  expect(exported.subscriptions.map(({ name }) => name)).toEqual(['B', 'b', hostile]);
  expect(exported.subscriptions[1]).toMatchObject({
    eventTypes: ['affiliate.created', 'client.created'],
    headerNames: ['X-Token'],
    pace: { limit: 5, per: 'second' },
    paused: true,
  });
  expect(exported.keys.map(({ name }) => name)).toEqual(['Agent', 'Zapier']);
});

/** The file as the server answers it, which leaves out what is not there. */
const read = (file: object): CheckedSettings => settingsFile.parse(file);

test('objects are known by name, unnamed subscriptions by URL, and nothing is deleted', () => {
  const [B, b] = exported.subscriptions;
  const url = 'https://hooks.example.com/elsewhere';
  const file = {
    ...exported,
    subscriptions: [
      { ...B, url },
      { ...b, name: 'New' },
      { ...b, name: null, paused: true },
    ],
    keys: [{ name: 'Agent', scopes: ['admin'] }],
  };
  const of = { ...present, subscriptions: [...present.subscriptions, subscription(7, null)] };
  const { steps, same } = planOf(read(file), of);
  expect(steps.map(({ action, name, after }) => [action, name, after])).toMatchObject([
    ['new', 'New', {}],
    ['changed', 'Agent', { scopes: ['admin'] }],
    ['changed', 'B', { url }],
    ['changed', 'https://hooks.example.com/crm', { paused: true }],
  ]);
  expect(same).toBe(0);
});

test('each of a large file finds its own, and twins of a file are two objects', () => {
  const many = Array.from({ length: 1000 }, (_, id) =>
    subscription(id + 1, `Hook ${id}`, { url: `https://hooks.example.com/${id}` }),
  );
  const of: Present = { subscriptions: many, keys: many.map(({ id }) => key(id, `Key ${id}`)) };
  const file = settingsOf(of, 'https://crm.example.com/docs/settings.schema.json');
  const [first] = file.subscriptions;
  const { steps, same } = planOf(
    read({
      ...file,
      subscriptions: [
        ...file.subscriptions.map((one, _at) => ({
          ...one,
          paused: true,
        })),
        { ...first, paused: true },
      ],
      keys: [...file.keys].reverse().map((one) => ({ ...one, name: `__proto__${one.name}` })),
    }),
    of,
  );
  const count = (kind: string, action: string) =>
    steps.filter((step) => step.kind === kind && step.action === action).length;
  expect([count('subscription', 'changed'), count('subscription', 'new')]).toEqual([1000, 1]);
  expect([count('key', 'changed'), count('key', 'new'), same]).toEqual([0, 1000, 0]);
  expect(steps.every(({ before, after }) => before === null || 'name' in after! || 'paused' in after!)).toBe(
    true,
  );
});

test('names that a language knows are names like others', () => {
  const names = ['__proto__', 'constructor', '<img src=x onerror=alert(1)>'];
  const file = read({
    version: 1,
    subscriptions: [],
    keys: names.map((name) => ({ name, scopes: ['events:read'] })),
  });
  const { steps } = planOf(file, { subscriptions: [], keys: [] });
  expect(steps.map(({ name, body }) => [name, body.basedOn])).toEqual(
    names.map((name) => [name, { sameName: 0 }]),
  );
  expect(planOf(file, { subscriptions: [], keys: names.map((name, id) => key(id + 1, name)) })).toEqual({
    ...{ steps: [], same: 3 },
  });
});
