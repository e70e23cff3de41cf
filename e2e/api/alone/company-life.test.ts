import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { audited, close, expectClosed, expectOpen, oddName, open, openScene } from '../support/company.ts';
import { kill } from '../support/kill.ts';
import { goodPassword, openBrowser } from '../support/portal.ts';
import { allReady } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

const failedAttempts = async (companyId: number): Promise<number> =>
  (
    await world.sql<{ failed: number }>(
      'SELECT COUNT(*) AS failed FROM delivery_attempts WHERE company_id = ? AND status_code = 503',
      [companyId],
    )
  )[0]!.failed;

const unfinished = async (companyId: number): Promise<readonly string[]> =>
  (
    await world.sql<{ state: string }>(
      "SELECT state FROM deliveries WHERE company_id = ? AND state IN ('waiting', 'held')",
      [companyId],
    )
  ).map(({ state }) => state);

test('a closed company has no keys, sessions, subscriptions and links, while its writers write; opened, it has them again', async () => {
  const [scene, other] = [await openScene(world), await openScene(world)];
  let writing = true;
  const statuses = new Set<number>();
  const writer = (async () => {
    for (let number = 10; writing; number++) statuses.add((await scene.lead(number)).status);
  })();
  await until('it writes', () => statuses.size > 0);
  // Attempts are under way, and wait for a second one.
  scene.receiver.behave('/on', 'status=503');
  await until('an attempt fails', async () => (await failedAttempts(scene.companyId)) > 0);
  await close(world, scene);
  expect(await scene.read()).toBe(401);
  await world.operator.ask('closeCompany', { company_id: scene.companyId });
  await until('the writer is refused', () => statuses.has(401));
  writing = false;
  await writer;
  expect([...statuses].filter((status) => ![201, 401].includes(status))).toEqual([]);
  await expectClosed(world, scene);
  const made = outcome(
    world.operator.ask('createKey', { company_id: scene.companyId, name: 'late', scopes: ['admin'] }),
  );
  expect(String(await made)).toContain('closed');
  await until('what waits is held', async () =>
    (await unfinished(scene.companyId)).every((state) => state === 'held'),
  );
  expect((await unfinished(scene.companyId)).length).toBeGreaterThan(0);
  // Nothing of the others.
  expect(await other.read()).toBe(200);
  expect(await other.enabled()).toEqual([other.on]);
  expect((await other.colleague.browser.ask('GET', '/session')).status).toBe(200);
  expect(await other.shared()).toBe(200);

  await open(world, scene);
  await expectOpen(world, scene);
  expect(await audited(world, scene)).toEqual(['company.closed', 'company.opened']);
  scene.receiver.behave('/on', undefined);
  const before = scene.receiver.received.length;
  expect((await scene.lead(2)).status).toBe(201);
  await until('its events arrive again', () => scene.receiver.received.length > before);
});

test('a key that is revoked while its company is closed stays revoked, and a member of two companies signs in to the other', async () => {
  const [scene, other] = [await openScene(world), await openScene(world)];
  const { email } = scene.owner;
  await world.operator.ask('createPortalOwner', {
    ...{ company_id: other.companyId, email, password: goodPassword },
  });
  await close(world, scene);
  await world.operator.ask('revokeKey', { id: scene.key.id });
  const signedIn = await openBrowser(world).signIn(scene.owner);
  expect([signedIn.status, signedIn.json.company.id]).toEqual([200, other.companyId]);
  await open(world, scene);
  await until('its subscription is on', async () => (await scene.enabled()).length === 1);
  expect(await scene.read()).toBe(401);
});

const exporting = (companyId: number, file: string) =>
  spawn(
    process.execPath,
    ['services/access/cli/main.ts', 'company', 'export', '--company', String(companyId), '--out', file],
    { env: { ...process.env, STACK_HOME: world.home }, stdio: 'ignore' },
  );
const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve));

test('an export has every record, event and setting, whatever its bytes, and no secret; interrupted, there is no file', async () => {
  const [scene, other] = [await openScene(world), await openScene(world)];
  const { companyId, key } = scene;
  const items = Array.from({ length: 230 }, (_, number) => ({
    first_name: oddName,
    last_name: `Batch ${number}`,
    email: `batch-${number}@example.com`,
    phone: '+1 555 0100',
  }));
  for (let from = 0; from < items.length; from += 100)
    await world.ask('/integrations/leads/batch', {
      method: 'POST',
      key: key.value,
      body: { mode: 'create', items: items.slice(from, from + 100) },
    });
  const folder = await mkdtemp(join(tmpdir(), 'causeway-test-export-'));
  cleanUp(() => rm(folder, { recursive: true }));
  const file = join(folder, 'company.ndjson');
  const killed = exporting(companyId, file);
  await until('it writes', () => existsSync(`${file}.part`));
  killed.kill('SIGKILL');
  await ended(killed);
  expect(existsSync(file)).toBe(false);
  // An export asks again, or says that it failed.
  const during = exporting(companyId, file);
  await until('it writes', () => existsSync(`${file}.part`));
  const gone = kill(world, 'crm');
  const code = await ended(during);
  expect(existsSync(file)).toBe(code === 0);
  await allReady(world, gone);
  expect(await ended(exporting(companyId, file))).toBe(0);

  const command = `node services/access/cli/main.ts company export --company ${companyId} | head -n 1; exit \${PIPESTATUS[0]}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command.replace('node', process.execPath)], {
    env: { ...process.env, STACK_HOME: world.home },
    encoding: 'utf8',
  });
  expect(JSON.parse(stdout).type).toBe('company');
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^causeway: the export could not be written: .*\n$/),
  ]);

  const text = await readFile(file, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toEqual({ type: 'end', lines: lines.length - 1 });
  const of = (type: string) => lines.filter((line) => line.type === type);
  const [count] = await world.sql<{ people: number; events: number }>(
    `SELECT (SELECT COUNT(*) FROM clients WHERE company_id = ?) AS people,
     (SELECT COUNT(*) FROM events WHERE company_id = ?) AS events`,
    [companyId, companyId],
  );
  expect(count!.people).toBe(231);
  expect([of('person').length, of('event').length]).toEqual([count!.people, count!.events]);
  expect(new Set(of('person').map(({ client_id }) => client_id)).size).toBe(231);
  expect(of('person').every(({ first_name }) => first_name === oddName)).toBe(true);
  expect(of('note')).toMatchObject([{ text: 'A note' }]);
  expect(of('event')[0].event.companyId).toBe(companyId);
  expect([of('company'), of('member'), of('key'), of('subscription')].map((some) => some.length)).toEqual([
    1, 2, 2, 2,
  ]);
  for (const word of [key.value, 'whsec_', 'password_hash', 'key_hash', other.owner.email])
    expect(text).not.toContain(word);
  const [told] = await world.sql<{ times: number }>(
    "SELECT COUNT(*) AS times FROM audit_log WHERE company_id = ? AND action = 'company.exported'",
    [companyId],
  );
  // The first one may have been killed before it asked.
  expect(told!.times).toBeOneOf([3, 4]);
});
