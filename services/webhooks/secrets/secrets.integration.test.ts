import { type KeyRing, openSecret, sealedWith } from '@causeway/runtime';
import { rowOf, type TestDatabase, testLane } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { findSubscription } from '../subscriptions/record.ts';
import { type BootedWebhooks, bootWebhooks, makeKeyRing } from '../testing/boot.ts';
import { makeEvents } from '../testing/make.ts';
import { reencryptBatch, reencryptKeys } from './reencrypt.ts';

const both = makeKeyRing('old', 'new');
const ringOf = (...names: readonly string[]): KeyRing => ({
  sealsWith: names[0]!,
  keys: new Map(names.map((name) => [name, both.keys.get(name)!])),
});
const turned = ringOf('new', 'old');
const onlyNew = ringOf('new');

const world = async (subscriptions: number) => {
  const booted = await bootWebhooks({ keyRing: ringOf('old') });
  const shown: { company: number; id: number; secret: string; previous: string }[] = [];
  for (let at = 0; at < subscriptions; at++) {
    const company = 1 + (at % 3);
    const body = { url: 'https://hooks.example.com', eventTypes: ['lead.created'] };
    const made = (await booted.ask('createSubscription', company, { body })).body;
    const rotated = await booted.ask('rotateSubscriptionSecret', company, {
      params: [made.id],
      body: { overlapHours: 1 },
    });
    const { signingSecret: previous } = made;
    shown.push({ company, id: made.id, secret: rotated.body.signingSecret, previous });
  }
  return { ...booted, shown };
};

const secretsOf = ({ db }: BootedWebhooks, company: number, id: number) =>
  rowOf(db, 'subscriptions', company, { subscription_id: id });

const reencryptWith = async (database: TestDatabase, keyRing: KeyRing) => {
  const { bus } = await bootWebhooks({ keyRing, database });
  const ask = testLane(bus, 'operator-webhooks', 'operator');
  const answer = await ask({ operation: 'reencryptSecrets', budgetMs: 20_000, body: Buffer.from('{}') });
  return JSON.parse(answer.body.toString());
};

test('what shows a subscription reads neither its secrets nor the values of its headers', async () => {
  const { db, shown } = await world(1);
  const record = await findSubscription(db, shown[0]!.company, shown[0]!.id);
  const read = Object.keys(record ?? {});
  expect(read).toContain('header_names');
  expect(['secret', 'previous_secret', 'headers'].filter((column) => read.includes(column))).toEqual([]);
});

test('every secret is re-encrypted with the first key, and the old key is no longer needed', async () => {
  const booted = await world(7);
  await makeEvents(booted.db, 1, [{}, {}]);
  const cursor = (await booted.ask('listEvents', 1, { query: { limit: '1' } })).body.nextCursor;
  const total = { checked: 0, resealed: 0, unopened: 0 };
  const add = (counts: typeof total) => {
    for (const name of ['checked', 'resealed', 'unopened'] as const) total[name] += counts[name];
  };
  add(await reencryptKeys(booted.db, turned));
  const { next, ...counts } = await reencryptBatch(booted.db, turned, 0);
  add(counts);
  expect([total, next]).toEqual([{ checked: 15, resealed: 15, unopened: 0 }, null]);
  for (const { company, id, secret, previous } of booted.shown) {
    const row = await secretsOf(booted, company, id);
    expect([row.secret, row.previous_secret!].map(sealedWith)).toEqual(['new', 'new']);
    expect(openSecret(onlyNew, company, row.secret)).toBe(secret);
    expect(openSecret(onlyNew, company, row.previous_secret!)).toBe(previous);
  }
  expect(await reencryptBatch(booted.db, onlyNew, 0)).toMatchObject({
    checked: 14,
    resealed: 0,
    unopened: 0,
  });
  const later = await bootWebhooks({ keyRing: onlyNew, database: booted.database });
  const page = await later.ask('listEvents', 1, { query: { cursor } });
  expect([page.status, page.body.events.length]).toEqual([200, 1]);
});

test('a secret whose key is not in the ring is counted and left unchanged', async () => {
  const booted = await world(2);
  const before = await Promise.all(booted.shown.map(({ company, id }) => secretsOf(booted, company, id)));
  expect(await reencryptBatch(booted.db, onlyNew, 0)).toEqual({
    checked: 4,
    resealed: 0,
    unopened: 4,
    next: null,
  });
  expect(await Promise.all(booted.shown.map(({ company, id }) => secretsOf(booted, company, id)))).toEqual(
    before,
  );
});

test('many secrets are re-encrypted in batches, each after the previous one', async () => {
  const booted = await world(1);
  const { company, id } = booted.shown[0]!;
  const { secret } = await secretsOf(booted, company, id);
  const values = Array.from({ length: 450 }, () => ({
    company_id: company,
    url: 'https://hooks.example.com',
    event_types: '["lead.created"]',
    secret,
    created_utc: new Date(),
    updated_utc: new Date(),
  }));
  await booted.db.insertInto('subscriptions').values(values).execute();
  const sizes: number[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { next, resealed } = await reencryptBatch(booted.db, turned, after);
    sizes.push(resealed);
    after = next;
  }
  expect(sizes).toEqual([201, 200, 51]);
});

test('a secret that is rotated meanwhile is not overwritten', async () => {
  const booted = await world(5);
  await Promise.all([
    ...booted.shown.map(async (one) => {
      const { company, id } = one;
      const { body } = await booted.ask('rotateSubscriptionSecret', company, {
        params: [id],
        body: { overlapHours: 0 },
      });
      one.secret = body.signingSecret;
    }),
    ...Array.from({ length: 5 }, () => reencryptBatch(booted.db, turned, 0)),
  ]);
  for (const { company, id, secret } of booted.shown)
    expect(openSecret(turned, company, (await secretsOf(booted, company, id)).secret)).toBe(secret);
});

test('the operation uses the lane for operators', async () => {
  const booted = await world(3);
  expect(await reencryptWith(booted.database, turned)).toEqual({
    key: 'new',
    checked: 6,
    resealed: 6,
    unopened: 0,
    next: null,
  });
});
