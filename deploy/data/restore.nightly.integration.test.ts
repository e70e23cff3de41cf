import { randomUUID } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl, readEnv } from '@causeway/runtime';
import { cleanUp, type Receiver, testReceiver } from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { openOperator } from '../local/demo.ts';
import type { Stack } from '../local/home.ts';
import { startMysql } from '../local/mysql.ts';
import { openCluster } from '../local/testing/open-cluster.ts';
import { readToolchain } from '../local/toolchain.ts';
import { makeCompany, temporary } from './testing/cluster.ts';
import { openRunbook, statementsWith } from './testing/runbook.ts';

// Every command of backup and restore is the one in README.md.

const { mysqld } = readToolchain(readEnv());

test.runIf(mysqld)(
  'a cluster continues correctly on a database that was restored to a point in time',
  { timeout: 600_000 },
  async () => {
    const home = temporary('restore');
    const backup = temporary('backup');
    const serve = async (folder: string) => {
      const server = await startMysql({ home: join(home, folder), program: mysqld! });
      cleanUp(() => server.stop());
      return server;
    };
    const receiver = await testReceiver();

    // Before the point in time: some before the backup, some after it; one receiver is up, and one is down.
    const lost = await serve('lost');
    const open = async (server: { url: string }, settings = {}) => {
      const cluster = await openCluster({ home, env: { ...readEnv(), ...settings, MYSQL_URL: server.url } });
      cleanUp(cluster.stop);
      return cluster;
    };
    // Later than this test ends: it makes retries due itself.
    const first = await open(lost, { WEBHOOKS_RETRY_SCHEDULE: '1h' });
    const company = await makeCompany(first.stack);
    const ask = asking(
      () => first.stack.baseUrl,
      () => company.key,
    );
    receiver.behave('/down', 'status=503');
    for (const path of ['/up', '/down'])
      await ask('POST', '/webhooks/subscriptions', {
        url: `${receiver.url}${path}`,
        eventTypes: ['client.created'],
      });
    const early = await create(ask, 3);
    const password = randomUUID();
    for (const statement of statementsWith('CREATE USER backup', password)) await query(lost.url, statement);
    const book = await openRunbook(lost.url, { as: { user: 'backup', password } });
    book.run('Take a backup', { BACKUP: backup });
    const stream = book.start('Keep every change', { BACKUP: backup });
    const late = await create(ask, 3);
    const known = [...early, ...late];
    await expect.poll(() => idsAt(receiver, '/up').length).toBe(known.length);
    const seen = await walk(ask);
    const revoked = await withOperator(first.stack.natsUrl, (operator) =>
      operator.ask('createKey', { company_id: company.id, name: 'r', scopes: ['integrations:read'] }),
    );
    const cookie = await signIn(first.stack);
    expect(await sessionStatus(first.stack, cookie)).toBe(200);
    const isWaiting = "SELECT COUNT(*) AS n FROM deliveries WHERE state = 'waiting'";
    await expect.poll(async () => (await query(lost.url, isWaiting))[0]?.n).toBe(known.length);

    // After the point in time: the restore undoes all of this.
    const moment = await nextMoment();
    const undone = await create(ask, 4);
    receiver.behave('/down', undefined);
    await makeRetriesDue(lost.url);
    await expect.poll(async () => (await query(lost.url, isWaiting))[0]?.n).toBe(0);
    const seenLater = await walk(ask, seen.cursor);
    expect(seenLater.ids.length).toBe(undone.length);
    await withOperator(first.stack.natsUrl, (operator) => operator.ask('revokeKey', { id: revoked.id }));
    const sent = bodiesOf(receiver);

    // The server and its disk are lost; the streamed binary logs are left.
    await first.stop();
    await caughtUp(lost.url, backup);
    stream.kill('SIGTERM');
    await lost.stop();
    rmSync(join(home, 'lost'), { recursive: true });

    const restored = await serve('restored');
    const restoring = await openRunbook(restored.url);
    await query(restored.url, 'DROP DATABASE causeway');
    restoring.run('2. Restore to a moment', { BACKUP: backup, MOMENT: moment });
    expect(restoring.run('3. See what is lost', { BACKUP: backup, MOMENT: moment })).toMatch(
      /\b4 INSERT INTO clients\n/,
    );
    const [atMoment] = await query(restored.url, 'SELECT MAX(client_id) AS client FROM clients');
    expect(atMoment?.client).toBe(known.at(-1));
    const waiting = await query(
      restored.url,
      `SELECT event_id AS id FROM deliveries JOIN subscriptions USING (company_id, subscription_id)
     WHERE state = 'waiting' AND url LIKE '%/down' ORDER BY event_id`,
    );
    expect(waiting.length).toBe(known.length);
    expect(restoring.run('4. Move ids and sequences ahead', {})).toContain('nothing to apply');

    receiver.forget();
    await makeRetriesDue(restored.url);
    const second = await open(restored);
    const askAgain = asking(
      () => second.stack.baseUrl,
      () => company.key,
    );
    const fresh = await create(askAgain, 2);
    await expect.poll(() => idsAt(receiver, '/down').length).toBe(known.length + fresh.length);
    // A delivery too many would arrive meanwhile.
    await sleep(1_000);

    // Some of these arrive a second time with the same id.
    const freshEvents = idsAt(receiver, '/up');
    expect(ascending(idsAt(receiver, '/down'))).toEqual(
      ascending([...waiting.map(({ id }) => id as number), ...freshEvents]),
    );
    const again = bodiesOf(receiver);
    for (const { id } of waiting) expect(again.get(String(id))).toBe(sent.get(String(id)));
    expect(freshEvents.length).toBe(fresh.length);
    // No id is assigned twice.
    for (const id of freshEvents) expect(sent.has(String(id))).toBe(false);
    expect(Math.min(...fresh)).toBeGreaterThan(Math.max(...undone));
    // Readers of the log miss no event, wherever they were.
    expect((await walk(askAgain, seen.cursor)).ids).toEqual(freshEvents);
    expect((await walk(askAgain, seenLater.cursor)).ids).toEqual(freshEvents);
    expect((await walk(askAgain)).ids).toEqual([...seen.ids, ...freshEvents]);
    // Keys revoked after the point in time stay revoked, nobody is signed in, and later writes are gone.
    expect(await sessionStatus(second.stack, cookie)).toBe(401);
    const withRevoked = asking(
      () => second.stack.baseUrl,
      () => revoked.value,
    );
    await expect(withRevoked('GET', '/integrations/lookups/employees')).rejects.toThrow('401');
    await expect(askAgain('PATCH', `/integrations/clients/${undone[0]}`, { city: 'Bath' })).rejects.toThrow(
      '404',
    );
  },
);

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by name.
type Asked = (method: string, path: string, body?: object) => Promise<any>;

/** @throws with the status if the answer is not a success. */
const asking =
  (baseUrl: () => string, key: () => string): Asked =>
  async (method, path, body) => {
    const reply = await fetch(`${baseUrl()}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': key() },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text);
  };

const create = async (ask: Asked, count: number): Promise<number[]> => {
  const ids: number[] = [];
  for (let at = 0; at < count; at++) {
    const person = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };
    ids.push((await ask('POST', '/integrations/clients', person)).client_id);
  }
  return ids;
};

const walk = async (
  ask: Asked,
  from?: string,
): Promise<{ readonly ids: readonly number[]; readonly cursor: string }> => {
  const ids: number[] = [];
  let cursor = from;
  for (;;) {
    const page = await ask('GET', `/events?order=asc&limit=2${cursor ? `&cursor=${cursor}` : ''}`);
    ids.push(...page.events.map(({ id }: { id: number }) => id));
    cursor = page.nextCursor ?? cursor;
    if (!page.hasMore) return { ids, cursor: cursor ?? '' };
  }
};

const idsAt = ({ received }: Receiver, path: string): number[] =>
  received.filter((one) => one.path === path).map(({ id }) => Number(id));

const bodiesOf = ({ received }: Receiver): Map<string, string> =>
  new Map(received.map(({ id, body }) => [id, body.toString()]));

const ascending = (ids: readonly number[]): number[] => ids.toSorted((a, b) => a - b);

const withOperator = async <Result>(
  natsUrl: string,
  work: (operator: Operator) => Promise<Result>,
): Promise<Result> => {
  const operator = await openOperator(natsUrl);
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
};
type Operator = Awaited<ReturnType<typeof openOperator>>;

const query = async (url: string, sql: string): Promise<RowDataPacket[]> => {
  const connection = await createConnection(parseMysqlUrl(url));
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    await connection.end();
  }
};

/** A binary log has a resolution of seconds: waits for the next second to begin, and returns it in UTC. */
const nextMoment = async (): Promise<string> => {
  const atMs = Math.ceil(Date.now() / 1000) * 1000;
  await sleep(atMs - Date.now() + 5);
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
};

const caughtUp = async (url: string, folder: string): Promise<void> => {
  const [end] = await query(url, 'SHOW BINARY LOG STATUS');
  await expect.poll(() => statSync(join(folder, end?.File)).size).toBeGreaterThanOrEqual(end?.Position);
};

const sameOrigin = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

const signIn = async ({ baseUrl, portalEmail, portalPassword }: Stack): Promise<string> => {
  const { headers } = await fetch(`${baseUrl}/portal/api/v1/session`, {
    method: 'POST',
    headers: sameOrigin,
    body: JSON.stringify({ email: portalEmail, password: portalPassword }),
  });
  return headers.getSetCookie()[0]?.split(';')[0] ?? '';
};

const sessionStatus = async ({ baseUrl }: Stack, cookie: string): Promise<number> =>
  (await fetch(`${baseUrl}/portal/api/v1/session`, { headers: { ...sameOrigin, cookie } })).status;

const makeRetriesDue = async (url: string): Promise<void> => {
  await query(url, "UPDATE deliveries SET due_utc = UTC_TIMESTAMP(3) WHERE state = 'waiting'");
  await query(
    url,
    'UPDATE delivery_queues SET next_due_utc = UTC_TIMESTAMP(3) WHERE next_due_utc IS NOT NULL',
  );
};
