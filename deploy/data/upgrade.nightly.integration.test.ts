import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCallers } from '@causeway/identity/testing';
import { companyEntryName, type IngestAnswer, ingestSubject, samplePayload } from '@causeway/proto';
import { connectBus, migrate, parseKeyRing, parseMysqlUrl, sealSecret } from '@causeway/runtime';
import {
  cleanUp,
  provided,
  type TestProcess,
  testNats,
  testProcess,
  testReceiver,
  withDatabase,
} from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';

// First the migrations, then dispatchers, webhooks and crm, each while the others are of either release.

/** The last commit that changed the first migrations of 0.1.0: the earliest whose databases a release takes. */
const before = '7c160779';
const root = resolve(import.meta.dirname, '../..');

const checkOut = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-before-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync('git', ['archive', before], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@causeway'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@causeway') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  symlinkSync(join(folder, 'proto'), join(modules, '@causeway/proto'));
  for (const library of ['runtime', 'identity', 'deliveries'])
    symlinkSync(join(folder, 'services', library), join(modules, '@causeway', library));
  return folder;
};

const company = 1001;

test('a rollout over the release before loses no delivery and repeats none', {
  timeout: 300_000,
}, async () => {
  const former = checkOut();
  const name = `upgrade_${randomBytes(6).toString('hex')}`;
  const mysqlUrl = withDatabase(provided('mysqlUrl'), name);
  const admin = await createConnection({ ...parseMysqlUrl(provided('mysqlUrl')), timezone: 'Z' });
  cleanUp(async () => {
    await admin.query('DROP DATABASE IF EXISTS ??', [name]);
    await admin.end();
  });
  await migrate(mysqlUrl, migrationFolders(former));
  await admin.query('USE ??', [name]);
  const nats = await testNats();
  const bus = await connectBus({ url: nats.url, name: 'test' });
  cleanUp(() => bus.close());
  const callers = await testCallers(bus);
  await callers.bucket.put(companyEntryName(company), '{"version":1}');

  const ring = `test:${randomBytes(32).toString('base64')}`;
  const start = (tree: string, service: string): Promise<TestProcess<unknown>> =>
    testProcess({
      entry: join(tree, 'services', service, 'main.ts'),
      cwd: tree,
      env: {
        ...process.env,
        MYSQL_URL: mysqlUrl,
        NATS_URL: nats.url,
        WEBHOOKS_SECRET_KEYS: ring,
        WEBHOOKS_ALLOW_HTTP: 'true',
        WEBHOOKS_ALLOW_PRIVATE: 'true',
        WEBHOOKS_RETRY_SCHEDULE: '1s,1s,1s,1s,1s',
        LOG_LEVEL: 'error',
      },
    });

  // One that is quick, one that is slow, one that fails at first.
  const receivers = await Promise.all([1, 2, 3].map(() => testReceiver()));
  const [, slow, failing] = receivers;
  slow!.answer = (response) => void setTimeout(() => response.end(), 300);
  const failed = new Set<string>();
  failing!.answer = (response, request) => {
    const isFirst = !failed.has(request.id) && Number(request.id) % 10 === 0;
    failed.add(request.id);
    response.writeHead(isFirst ? 500 : 200).end();
  };
  const now = new Date();
  for (const { url } of receivers)
    await admin.query('INSERT INTO subscriptions SET ?', [
      {
        company_id: company,
        url,
        event_types: '["payment.succeeded"]',
        secret: sealSecret(parseKeyRing(ring), company, `whsec_${randomBytes(32).toString('base64')}`),
        created_utc: now,
        updated_utc: now,
      },
    ]);
  await admin.query(
    'INSERT INTO delivery_queues (company_id, subscription_id) SELECT company_id, subscription_id FROM subscriptions',
  );

  const order = ['dispatcher', 'webhooks', 'crm'] as const;
  const running = new Map<string, TestProcess<unknown>>();
  for (const service of order) running.set(service, await start(former, service));

  const sent: number[] = [];
  let sending = true;
  const traffic = (async () => {
    while (sending) {
      const body = {
        companyId: company,
        type: 'payment.succeeded',
        payload: samplePayload('payment.succeeded', now),
      };
      // One that crm refuses or loses while it restarts is no event.
      const answer = await bus.nc
        .request(ingestSubject, JSON.stringify({ ...body, dedupeKey: String(sent.length) }), {
          timeout: 5_000,
        })
        .then((message) => message.json<IngestAnswer>())
        .catch(() => undefined);
      if (answer && 'id' in answer) sent.push(answer.id);
      await sleep(20);
    }
  })();
  const someEvents = async (count: number): Promise<void> => {
    for (const goal = sent.length + count; sent.length < goal; await sleep(20));
  };

  await someEvents(50);
  await migrate(mysqlUrl, migrationFolders(root));
  await someEvents(50);
  for (const service of order) {
    const next = await start(root, service);
    await someEvents(50);
    await running.get(service)!.stop();
    running.set(service, next);
    await someEvents(50);
  }
  sending = false;
  await traffic;

  const idsAt = (at: number): number[] => receivers[at]!.received.map(({ id }) => Number(id));
  await expect
    .poll(() => receivers.map((_, at) => new Set(idsAt(at)).size), { timeout: 120_000, interval: 200 })
    .toEqual(receivers.map(() => new Set(sent).size));
  for (const at of [0, 1]) expect(idsAt(at)).toHaveLength(new Set(sent).size);
  await expect
    .poll(async () => {
      const [rows] = await admin.query<(RowDataPacket & { state: string; count: number })[]>(
        'SELECT state, COUNT(*) AS count FROM deliveries GROUP BY state',
      );
      return rows.map(({ state, count }) => ({ state, count }));
    })
    .toEqual([{ state: 'succeeded', count: 3 * new Set(sent).size }]);
  expect(await admin.query('SELECT * FROM event_outbox').then(([rows]) => rows)).toEqual([]);
  for (const one of running.values()) await one.stop();
});
