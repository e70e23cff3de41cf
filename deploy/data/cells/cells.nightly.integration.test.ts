import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl, readEnv } from '@causeway/runtime';
import { cleanUp, compileCache, type Receiver, testReceiver } from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test, vi } from 'vitest';
import { startMigrations } from '../../local/migrations.ts';
import { startMysql } from '../../local/mysql.ts';
import { openOperator } from '../../local/operator.ts';
import { freePort } from '../../local/ports.ts';
import { runService } from '../../local/service-run.ts';
import { readStack } from '../../local/stack.ts';
import { readToolchain } from '../../local/toolchain.ts';
import { makeCompany, openCluster, root, temporary } from '../testing/cluster.ts';
import { openRunbook } from '../testing/runbook.ts';

// Two whole cells, each with its own MySQL, NATS and services, behind one gateway that routes by CELLS. A company moves
// from one to the other by the commands of ../README.md while all companies write; then the cell that it left is lost.

const { mysqld } = readToolchain(readEnv());
const ring = (name: string, byte: number) => `${name}:${Buffer.alloc(32, byte).toString('base64')}`;
/** All cells have the same key rings. */
const rings = { PORTAL_SECRET_KEYS: ring('p', 1), WEBHOOKS_SECRET_KEYS: ring('w', 2) };

/** Whose deliveries fail at first. */
const leads = 3;

test.runIf(mysqld)(
  'a company moves to another cell with all it has, and an outage stays in its cell',
  { timeout: 420_000 },
  async () => {
    const home = temporary('cells');
    const receiver = await testReceiver();
    const noPages = temporary('no-pages');
    const serve = async (name: string) => {
      const server = await startMysql({ home: join(home, `mysql-${name}`), program: mysqld! });
      cleanUp(() => server.stop());
      await startMigrations(root, server.url);
      return server;
    };
    const [northMysql, southMysql] = await Promise.all([serve('north'), serve('south')]);
    const cellOf = (name: string, mysqlUrl: string) =>
      openCluster({
        home: join(home, name),
        mysqlUrl,
        // Later than this test ends: it makes retries due itself.
        env: { ...rings, WEBHOOKS_RETRY_SCHEDULE: '1h', PORTAL_DIR: noPages },
      });
    const north = await cellOf('north', northMysql.url);
    const staying = await makeCompany(north.stack);
    const moving = await makeCompany(north.stack);

    const book = await openRunbook(northMysql.url);
    const move = {
      ...{ FROM_MYSQL_URL: northMysql.url, TO_MYSQL_URL: southMysql.url },
      ...{ COMPANY: String(moving.id), CELL: '1' },
    };
    // The first cursor makes the key for all.
    await create(north.stack.baseUrl, staying.key, 'first');
    await ask(north.stack.baseUrl, staying.key, 'GET', '/events?order=asc');
    book.run('Prepare a cell', { ...move, MYSQL_URL: southMysql.url });
    const south = await cellOf('south', southMysql.url);
    const there = await makeCompany(south.stack);
    expect(there.id).toBeGreaterThan(1_000_000);

    const gateway = async (name: string) => {
      const port = await freePort();
      const run = await runService({
        name,
        entry: join(root, 'services/gateway/main.ts'),
        env: {
          PATH: readEnv().PATH,
          ...compileCache,
          INSTANCE: name,
          CELLS: `north 1-999999 ${north.stack.natsUrl};south 1000000-1999999,${moving.id} ${south.stack.natsUrl}`,
          HOST: '127.0.0.1',
          PORT: String(port),
          RATE_LIMIT_PORTAL: '100000',
        },
        logFile: join(home, `${name}.log`),
      });
      cleanUp(() => run.stop());
      const metricsUrl = await run.ready;
      return { url: `http://127.0.0.1:${port}`, metricsUrl };
    };
    const { url, metricsUrl } = await gateway('gateway-of-both');

    // What the moving company has: a subscription that fails, one that does not, a member who is signed in, a cursor.
    receiver.behave('/down', 'status=503');
    for (const [path, type] of Object.entries({ '/up': 'client.created', '/down': 'lead.created' }))
      await ask(url, moving.key, 'POST', '/webhooks/subscriptions', {
        url: `${receiver.url}${path}`,
        eventTypes: [type],
      });
    const email = 'owner@moving.example';
    const password = 'a long enough password 1';
    const operator = await openOperator(north.stack.natsUrl);
    await operator.ask('createPortalOwner', { company_id: moving.id, email, password });
    await operator.close();
    const cookie = await signIn(url, email, password);
    expect(await sessionStatus(url, cookie)).toBe(200);
    const early = await create(url, moving.key, 'early');
    for (let at = 0; at < leads; at++) await ask(url, moving.key, 'POST', '/integrations/leads', person);
    await vi.waitFor(() => expect(idsAt(receiver, '/down').length).toBe(leads), { timeout: 60_000 });
    const first = await ask(url, moving.key, 'GET', '/events?order=asc&limit=1');

    // All companies write all the time.
    const traffic = startTraffic(url, { staying: staying.key, moving: moving.key, there: there.key });
    await sleep(1000);
    expect(await book.walk('2. Copy most of it', move)).toMatch(/still open/);
    const closingMs = performance.now();
    const output = await book.walk('3. Hand it over', {
      ...move,
      FROM_NATS_URL: north.stack.natsUrl,
      TO_NATS_URL: south.stack.natsUrl,
    });
    const handedOverMs = performance.now();
    expect(output).toMatch(/was handed over/);
    await sleep(1500);
    const { answered, refused, failed, pauseMs } = await traffic.stop();
    // Others notice nothing. The moving company is told when to come back, and is served again.
    expect(failed).toEqual([]);
    expect(refused.filter(({ company }) => company !== 'moving')).toEqual([]);
    for (const { status, reason, retryAfter } of refused)
      expect([status, reason, retryAfter]).toEqual([503, 'company_moving', '1']);
    expect(refused.length).toBeGreaterThan(0);
    process.stdout.write(
      `move: step 3 took ${Math.round(handedOverMs - closingMs)} ms, the company was closed for ${Math.round(pauseMs)} ms\n`,
    );

    // Nothing is lost or doubled: every acknowledged client is there once, and nothing else.
    const clients = await query(
      southMysql.url,
      'SELECT client_id, external_id FROM clients WHERE company_id = ? AND external_id IS NOT NULL',
      [moving.id],
    );
    const acknowledged = [early, ...answered.filter(({ company }) => company === 'moving')];
    expect(clients.map(({ external_id }) => external_id).sort()).toEqual(
      acknowledged.map(({ externalId }) => externalId).sort(),
    );
    const ids = new Map(acknowledged.map(({ externalId, clientId }) => [externalId, clientId]));
    for (const { client_id, external_id } of clients) expect(client_id).toBe(ids.get(external_id));
    await vi.waitFor(() => expect(new Set(idsAt(receiver, '/up')).size).toBe(clients.length), {
      timeout: 60_000,
    });
    expect(idsAt(receiver, '/up').length).toBe(clients.length);

    // Its waiting deliveries continue in the new cell, under their ids.
    receiver.behave('/down', undefined);
    await query(southMysql.url, "UPDATE deliveries SET due_utc = UTC_TIMESTAMP(3) WHERE state = 'waiting'");
    await query(
      southMysql.url,
      'UPDATE delivery_queues SET next_due_utc = UTC_TIMESTAMP(3) WHERE next_due_utc IS NOT NULL',
    );
    const unfinished = "SELECT COUNT(*) AS n FROM deliveries WHERE company_id = ? AND state <> 'succeeded'";
    await vi.waitFor(
      async () => expect((await query(southMysql.url, unfinished, [moving.id]))[0]?.n).toBe(0),
      {
        timeout: 60_000,
      },
    );
    const twice = idsAt(receiver, '/down');
    expect([twice.length, new Set(twice).size]).toEqual([2 * leads, leads]);

    // Cursors, sessions and Idempotency-Keys continue; the member can sign in anew.
    const rest = await ask(url, moving.key, 'GET', `/events?order=asc&limit=100&cursor=${first.nextCursor}`);
    expect(rest.events.length).toBe(Math.min(100, clients.length + leads - 1));
    expect(await sessionStatus(url, cookie)).toBe(200);
    expect(await sessionStatus(url, await signIn(url, email, password))).toBe(200);
    expect(await create(url, moving.key, 'early')).toEqual(early);
    // What no cell knows is refused as in a system without cells.
    const stranger = { email: 'nobody@nowhere.example', password };
    expect(await guestStatus(url, '/session', stranger)).toBe(401);
    expect(await guestStatus(url, '/session', { email, password: 'another password 1' })).toBe(401);
    expect(await guestStatus(url, '/invitation', { token: 'A'.repeat(43) })).toBe(410);

    // Running the copy again changes nothing; what is left behind is deleted.
    expect(await book.walk('2. Copy most of it', move)).toMatch(/handed over already/);
    expect(await book.walk('4. Delete what is left', move)).toMatch(/rows deleted/);
    const [left] = await query(northMysql.url, 'SELECT COUNT(*) AS n FROM clients WHERE company_id = ?', [
      moving.id,
    ]);
    expect(left?.n).toBe(0);
    await create(url, moving.key, 'after-drop');

    // The cell that it left loses its MySQL, and its NATS hangs. Nobody in the other cell notices.
    const nats = readStack(join(home, 'north'))!.processes.find(({ name }) => /^nats/.test(name))!;
    const during = startTraffic(url, { moving: moving.key, there: there.key });
    await sleep(500);
    await northMysql.stop();
    process.kill(nats.pid!, 'SIGSTOP');
    try {
      await sleep(8000);
      const outage = await during.stop();
      expect([...outage.failed, ...outage.refused]).toEqual([]);
      expect(outage.answered.length).toBeGreaterThan(10);
      expect((await fetch(`${metricsUrl}/readyz`)).status).toBe(200);
      const lost = await fetch(`${url}/api/v1/integrations/lookups/employees`, {
        headers: { 'x-api-key': staying.key },
      });
      expect(lost.status).toBe(503);
      expect(await sessionStatus(url, await signIn(url, email, password))).toBe(200);
      // Nobody can tell whether the lost cell knows this address.
      expect(await guestStatus(url, '/session', stranger)).toBe(503);
      // A gateway that starts now serves the cell that is well, and says that it cannot reach the other.
      const fresh = await gateway('gateway-of-one');
      await create(fresh.url, there.key, 'fresh');
      await create(fresh.url, moving.key, 'fresh');
      const unknown = await fetch(`${fresh.url}/api/v1/integrations/lookups/employees`, {
        headers: { 'x-api-key': staying.key },
      });
      expect(unknown.status).toBe(503);
    } finally {
      process.kill(nats.pid!, 'SIGCONT');
    }
  },
);

const ask = async (
  baseUrl: string,
  key: string,
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by name.
): Promise<any> => {
  const reply = await fetch(`${baseUrl}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': key },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return JSON.parse(text);
};

const person = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };

/** Creates a client; the same request gets the same answer. */
const create = async (baseUrl: string, key: string, externalId: string) => {
  const reply = await fetch(`${baseUrl}/api/v1/integrations/clients`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'idempotency-key': externalId },
    body: JSON.stringify({ ...person, external_id: externalId }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by name.
  const body = (await reply.json()) as any;
  // 200 would be an update of the client that has this external_id.
  expect([reply.status, body.error]).toEqual([201, undefined]);
  return { externalId, clientId: body.client_id as number };
};

/** Leaves processor time to the programs that move the company. */
const pauseMs = 100;

interface Refusal {
  readonly company: string;
  readonly status: number;
  readonly reason: string;
  readonly retryAfter: string | null;
}

/** Creates clients of each company all the time. A client that was refused with 503 is sent again, as callers do. */
const startTraffic = (baseUrl: string, keys: Readonly<Record<string, string>>) => {
  const answered: { readonly company: string; readonly externalId: string; readonly clientId: number }[] = [];
  const refused: Refusal[] = [];
  const failed: string[] = [];
  let stopped = false;
  let firstMs = 0;
  let lastMs = 0;
  const run = async (company: string, key: string, loop: number): Promise<void> => {
    for (let at = 0; !stopped; at++) {
      const externalId = `${company}-${loop}-${at}-${startedMs}`;
      for (let done = false; !done; ) {
        const reply = await fetch(`${baseUrl}/api/v1/integrations/clients`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'idempotency-key': externalId },
          body: JSON.stringify({ ...person, external_id: externalId }),
        });
        // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by name.
        const body = (await reply.json()) as any;
        if (reply.status === 503 && company === 'moving') {
          lastMs = performance.now();
          firstMs ||= lastMs;
          refused.push({
            company,
            status: reply.status,
            reason: body.reason,
            retryAfter: reply.headers.get('retry-after'),
          });
          await sleep(50);
          continue;
        }
        done = true;
        if (reply.ok) answered.push({ company, externalId, clientId: body.client_id });
        else failed.push(`${company}: ${reply.status} ${JSON.stringify(body)}`);
      }
      await sleep(pauseMs);
    }
  };
  const startedMs = Date.now();
  const running = Object.entries(keys).flatMap(([company, key]) =>
    [0, 1].map((loop) => run(company, key, loop)),
  );
  return {
    stop: async () => {
      stopped = true;
      await Promise.all(running);
      return { answered, refused, failed, pauseMs: lastMs - firstMs };
    },
  };
};

const idsAt = ({ received }: Receiver, path: string): number[] =>
  received.filter((one) => one.path === path).map(({ id }) => Number(id));

const query = async (url: string, sql: string, values: readonly unknown[] = []): Promise<RowDataPacket[]> => {
  const connection = await createConnection(parseMysqlUrl(url));
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql, values as unknown[]);
    return rows;
  } finally {
    await connection.end();
  }
};

const sameOrigin = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

const asGuest = (baseUrl: string, path: string, body: object): Promise<Response> =>
  fetch(`${baseUrl}/portal/api/v1${path}`, {
    method: 'POST',
    headers: sameOrigin,
    body: JSON.stringify(body),
  });

const guestStatus = async (baseUrl: string, path: string, body: object): Promise<number> =>
  (await asGuest(baseUrl, path, body)).status;

/** @returns the cookie. */
const signIn = async (baseUrl: string, email: string, password: string): Promise<string> => {
  const { headers } = await asGuest(baseUrl, '/session', { email, password });
  return headers.getSetCookie()[0]?.split(';')[0] ?? '';
};

const sessionStatus = async (baseUrl: string, cookie: string): Promise<number> =>
  (await fetch(`${baseUrl}/portal/api/v1/session`, { headers: { ...sameOrigin, cookie } })).status;
