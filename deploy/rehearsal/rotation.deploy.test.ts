import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { connect } from '@nats-io/transport-node';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { beforeAll, expect, test } from 'vitest';
import { openRunbook } from '../data/testing/runbook.ts';
import { userOf } from '../mysql/grants.ts';
import { type MysqlService, mysqlServices } from '../mysql/privileges.ts';
import { startKubectl } from './testing/kubectl.ts';
import { fresh, openRotation, type Rotation, services } from './testing/rotation.ts';

// A rollout is a restart of one process after the other.

let world: Rotation;
beforeAll(async () => {
  world = await openRotation();
}, 600_000);

test('the passwords of NATS are replaced without a failed request', { timeout: 1_800_000 }, async () => {
  const { passwords, state, stack, restartNats, rollOut } = world;
  const unused = passwords.second;
  const before = counted();

  passwords.second = fresh('second');
  await restartNats();
  expect(await opensNats('crm-next', unused.crm!)).toBe(false);
  state.suffix = '-next';
  for (const service of services) await rollOut(service);
  const { username, password } = new URL(stack.natsUrl.split(',')[0]!);
  expect(await opensNats(username, password)).toBe(true);
  passwords.first = fresh('first');
  await restartNats();
  expect(await opensNats(username, password)).toBe(false);
  expect(await opensNats('crm', 'first-crm')).toBe(true);

  expectAllAnswered('rotation of NATS', before);
});

test('the passwords of MySQL are replaced without a failed request', { timeout: 900_000 }, async () => {
  const { mysqlPasswords, stack, mysqlUrlOf, rollOut } = world;
  const administrator = await openMysql(stack.mysqlUrl);
  const before = counted();
  const k = await startKubectl({
    patchSecret: async (name, values) => {
      expect(name).toBe('mysql-users');
      Object.assign(mysqlPasswords, values);
      // The running processes know only the old password when they have to connect again.
      for (const service of mysqlServices) if (service in values) await reconnect(administrator, service);
    },
    rollOut: (name) => rollOut(services.find((service) => service === name)!),
  });
  const book = await openRunbook(stack.mysqlUrl, { document: 'operations.md', programs: { k } });
  for (const service of mysqlServices) {
    const old = mysqlUrlOf(service);
    expect(await errorOfMysql(old)).toBeUndefined();
    await book.walk('Rotate the passwords of MySQL', {}, (commands) => commands.replaceAll('crm', service));
    expect(await errorOfMysql(old)).toBe('ER_ACCESS_DENIED_ERROR');
    const next = Object.assign(new URL(old), { password: mysqlPasswords[service] });
    expect(await errorOfMysql(next.href)).toBeUndefined();
  }
  expectAllAnswered('rotation of MySQL', before);
});

test('MySQL has the connections that the plan for capacity counts', { timeout: 300_000 }, async () => {
  const { stack, traffic } = world;
  const administrator = await openMysql(stack.mysqlUrl);
  const most = new Map<string, number>();
  let isLoaded = true;
  const load = Promise.all(Array.from({ length: 200 }, () => traffic.burst(10))).finally(
    () => (isLoaded = false),
  );
  while (isLoaded) {
    for (const service of mysqlServices) {
      const connections = await connectionsOf(administrator, service);
      most.set(service, Math.max(most.get(service) ?? 0, connections.length));
    }
    await sleep(50);
  }
  await load;
  process.stdout.write(`most connections under a burst: ${JSON.stringify([...most])}\n`);
  // Two processes of each: operations.md, "Plan for ten times the traffic".
  const planned = { access: 2 * 5, crm: 2 * 8, webhooks: 2 * 8, dispatcher: 2 * 9 } as const;
  for (const service of mysqlServices) {
    expect(most.get(service)).toBeGreaterThan(0);
    expect(most.get(service)).toBeLessThanOrEqual(planned[service]);
  }

  // Every answered create is there, once.
  const { created } = await traffic.stop();
  const [rows] = await administrator.query<RowDataPacket[]>(
    'SELECT external_id, COUNT(*) AS n FROM clients WHERE external_id LIKE ? GROUP BY external_id',
    ['steady-%'],
  );
  const counts = new Map(rows.map(({ external_id, n }) => [external_id, Number(n)]));
  expect(created.filter((id) => counts.get(id) !== 1)).toEqual([]);
});

const counted = () => {
  const { answered, failed } = world.traffic.count();
  return { answered, failed: failed.length };
};

const expectAllAnswered = (what: string, before: ReturnType<typeof counted>): void => {
  const { answered, failed } = world.traffic.count();
  const failedNow = failed.slice(before.failed);
  const answeredNow = answered - before.answered;
  process.stdout.write(`${what}: ${answeredNow} requests answered, ${failedNow.length} failed\n`);
  expect(failedNow).toEqual([]);
  expect(answeredNow).toBeGreaterThan(100);
};

const openMysql = async (url: string): Promise<Connection> => {
  const connection = await createConnection(parseMysqlUrl(url));
  cleanUp(() => connection.end());
  return connection;
};

const connectionsOf = async (administrator: Connection, service: MysqlService) => {
  const [rows] = await administrator.query<RowDataPacket[]>('SHOW PROCESSLIST');
  // Those that are still signing in have not succeeded.
  return rows.filter(({ User, Command }) => User === userOf(service) && Command !== 'Connect');
};

const reconnect = async (administrator: Connection, service: MysqlService): Promise<void> => {
  const open = await connectionsOf(administrator, service);
  const last = Math.max(...open.map(({ Id }) => Id));
  // It may have ended by itself.
  for (const { Id, Command } of open)
    if (Command === 'Sleep') await administrator.query(`KILL ${Id}`).catch(() => {});
  await expect
    .poll(async () => Math.max(...(await connectionsOf(administrator, service)).map(({ Id }) => Id)))
    .toBeGreaterThan(last);
};

const opensNats = async (user: string, pass: string): Promise<boolean> => {
  const { port } = new URL(world.stack.natsUrl.split(',')[0]!);
  try {
    const connection = await connect({ servers: `127.0.0.1:${port}`, user, pass, reconnect: false });
    await connection.close();
    return true;
  } catch {
    return false;
  }
};

/** @returns undefined if the URL's user is let in. */
const errorOfMysql = async (url: string): Promise<string | undefined> => {
  try {
    const connection = await createConnection(parseMysqlUrl(url));
    await connection.end();
    return undefined;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
};
