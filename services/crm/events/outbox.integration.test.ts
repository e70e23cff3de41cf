import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventStream, type OperationId } from '@causeway/proto';
import { cleanUp } from '@causeway/runtime/testing';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { beforeEach, expect, test } from 'vitest';
import { type BootedCrm, bootCrm } from '../testing/boot.ts';
import { readEvents } from './readEvents.ts';

// Each test begins without a service of its own process: replicas are processes that can be killed.
let crm: BootedCrm;
beforeEach(async () => {
  crm = await bootCrm({ replicas: 0 });
});

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
const companyId = 4001;

const startReplica = async (): Promise<ChildProcess> => {
  const child = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', process.execPath, new URL('../main.ts', import.meta.url).pathname],
    {
      env: { ...process.env, MYSQL_URL: crm.database.url, NATS_URL: crm.nats.url, LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  cleanUp(() => kill(child));
  await new Promise<void>((ready, fail) => {
    child.once('message', () => ready());
    child.once('exit', (code) => fail(new Error(`crm ended with ${code}`)));
  });
  return child;
};

const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await exited;
};

const outboxIds = async () =>
  (await crm.database.query<{ event_id: number }>('SELECT event_id FROM event_outbox')).map(
    (row) => row.event_id,
  );

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (const endMs = Date.now() + 15_000; !(await holds()); await sleep(50))
    if (Date.now() > endMs) throw new Error(`waited in vain: ${what}`);
};

/** The ids of all messages in the stream, in its order. */
const streamIds = async (): Promise<number[]> => {
  const manager = await jetstreamManager(crm.bus.nc);
  const { messages } = (await manager.streams.info(eventStream)).state;
  if (messages === 0) return [];
  const consumer = await jetstream(crm.bus.nc).consumers.get(eventStream);
  const ids: number[] = [];
  for await (const message of await consumer.fetch({ max_messages: messages, expires: 2_000 })) {
    ids.push(message.json<{ id: number }>().id);
    if (ids.length === messages) break;
  }
  return ids;
};

const eventIds = async () =>
  (await readEvents(crm.db, companyId, { after: 0, limit: 10_000 })).map(({ event_id }) => event_id);

const act = (operation: OperationId) => crm.act(operation, companyId, person);

test('what was published is forgotten by the outbox, and is in the stream once', async () => {
  await startReplica();
  await Promise.all(Array.from({ length: 20 }, () => act('createLead')));
  await until('an empty outbox', async () => (await outboxIds()).length === 0);
  expect((await streamIds()).sort((a, b) => a - b)).toEqual(await eventIds());
  expect(await eventIds()).toHaveLength(20);
});

test('a replica that is killed between commit and publication loses nothing', async () => {
  const first = await startReplica();
  // Without its stream nothing can be published; what is committed stays committed.
  await (await jetstreamManager(crm.bus.nc)).streams.delete(eventStream);
  const answers = await Promise.all(Array.from({ length: 30 }, () => act('createClient')));
  expect(answers.every(({ status }) => status === 201)).toBe(true);
  await kill(first);
  expect(await outboxIds()).toHaveLength(30);
  await startReplica();
  await until('an empty outbox', async () => (await outboxIds()).length === 0);
  expect((await streamIds()).sort((a, b) => a - b)).toEqual(await eventIds());
});

test('a replica that is killed under load loses no event of what it has committed', async () => {
  const first = await startReplica();
  const load = Promise.allSettled(
    Array.from({ length: 300 }, (_, at) => sleep(at).then(() => act('createLead'))),
  );
  await sleep(150);
  await kill(first);
  await startReplica();
  const answered = (await load).filter(
    (one) => one.status === 'fulfilled' && one.value.status === 201,
  ).length;
  await until('an empty outbox', async () => (await outboxIds()).length === 0);
  const ids = await eventIds();
  const clients = await crm.database.query('SELECT client_id FROM clients');
  expect(clients).toHaveLength(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(answered);
  expect((await streamIds()).sort((a, b) => a - b)).toEqual(ids);
});

test('a stream that is lost while the service runs is made again, and gets what it missed', async () => {
  await startReplica();
  await (await jetstreamManager(crm.bus.nc)).streams.delete(eventStream);
  await act('createLead');
  await until('an empty outbox', async () => (await outboxIds()).length === 0);
  expect(await streamIds()).toEqual(await eventIds());
});

test('two replicas sweep the same outbox and publish each event once', async () => {
  const ids = Array.from({ length: 1200 }, (_, at) => at + 1);
  await crm.database.query('INSERT INTO events (company_id, sequence, created_utc, type, payload) VALUES ?', [
    ids.map((sequence) => [companyId, sequence, new Date(Date.now() - 60_000), 'payment.failed', '{}']),
  ]);
  await crm.database.query(
    'INSERT INTO event_outbox SELECT company_id, event_id, sequence, created_utc FROM events',
  );
  await Promise.all([startReplica(), startReplica()]);
  await until('an empty outbox', async () => (await outboxIds()).length === 0);
  expect((await streamIds()).sort((a, b) => a - b)).toEqual(await eventIds());
});
