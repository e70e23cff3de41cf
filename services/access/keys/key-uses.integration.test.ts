import { type LoggedRequest, requestsLoggedSubject } from '@causeway/proto';
import { expect, test } from 'vitest';
import { loggedRequest, operatorOf, testWorld } from '../testing/boot.ts';

const world = await testWorld();
const gatherMs = 300;
await Promise.all([world.startAccess({ gatherMs }), world.startAccess({ gatherMs })]);
const ask = operatorOf(await world.openBus('operator'));
const gateway = await world.openBus('gateway');
const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
const newKey = async (): Promise<number> => {
  const { id } = (await ask('createKey', { company_id, name: 'k', scopes: ['admin'] })).body;
  // An hour old, so that tests can report uses of the past minutes.
  await world.database.query('UPDATE api_keys SET created_utc = created_utc - INTERVAL 1 HOUR WHERE id = ?', [
    id,
  ]);
  return id;
};

const thisMinute = () => Math.floor(Date.now() / 60_000);
const iso = (minute: number) => new Date(minute * 60_000).toISOString();
const use = (id: number, company: number, minute: number, bucket: LoggedRequest[12] = 'read') =>
  loggedRequest(company, id, minute * 60_000, { bucket });
const report = async (uses: readonly (readonly [id: number, company: number, minute: number])[]) => {
  gateway.nc.publish(requestsLoggedSubject, JSON.stringify(uses.map((used) => use(...used))));
  await gateway.nc.flush();
};
const lastUsed = async (id: number): Promise<string | null> =>
  (await ask('listKeys', { company_id })).body.keys.find((key: { id: number }) => key.id === id)
    .last_used_utc;
/** The uses of a report are written in order, so all earlier uses are written too. */
const written = async (id: number, minute: number) => expect.poll(() => lastUsed(id)).toBe(iso(minute));

test('the last use never precedes the creation: a key used in the minute it was created in', async () => {
  const id = await newKey();
  const minute = thisMinute() - 5;
  const created = new Date(minute * 60_000 + 30_250);
  await world.database.query('UPDATE api_keys SET created_utc = ? WHERE id = ?', [created, id]);
  await report([[id, company_id, minute]]);
  await expect.poll(() => lastUsed(id)).toBe(created.toISOString());
  await report([[id, company_id, minute + 1]]);
  await written(id, minute + 1);
});

test('the last use never goes backwards, in one report, in one batch or later', async () => {
  const [id, marker] = [await newKey(), await newKey()];
  const minute = thisMinute() - 5;
  await report([
    [id, company_id, minute],
    [id, company_id, minute - 3],
  ]);
  await report([[id, company_id, minute - 2]]);
  await written(id, minute);
  await report([
    [id, company_id, minute - 1],
    [marker, company_id, minute],
  ]);
  await written(marker, minute);
  expect(await lastUsed(id)).toBe(iso(minute));
});

test('a revoked key records a use before its revocation that is reported later, and none after it', async () => {
  const [id, marker] = [await newKey(), await newKey()];
  const end = thisMinute() - 10;
  await ask('revokeKey', { id });
  await world.database.query('UPDATE api_keys SET revoked_utc = ? WHERE id = ?', [
    new Date(end * 60_000 + 30_000),
    id,
  ]);
  await report([[id, company_id, end]]);
  await written(id, end);
  await report([
    [id, company_id, end + 1],
    [marker, company_id, end + 1],
  ]);
  await written(marker, end + 1);
  expect(await lastUsed(id)).toBe(iso(end));
});

test('a report with a time in the future counts for now', async () => {
  const id = await newKey();
  await report([[id, company_id, thisMinute() + 60 * 24]]);
  await expect.poll(() => lastUsed(id)).not.toBeNull();
  expect(new Date((await lastUsed(id))!).getTime()).toBeLessThanOrEqual(Date.now());
});

test('a key reported with the wrong company does not change', async () => {
  const [id, marker] = [await newKey(), await newKey()];
  const minute = thisMinute() - 5;
  await report([
    [id, company_id + 1, minute],
    [marker, company_id, minute],
  ]);
  await written(marker, minute);
  expect(await lastUsed(id)).toBeNull();
});

test('requests that no limit counts are uses, those that were refused before are none', async () => {
  const [id, refused, marker] = [await newKey(), await newKey(), await newKey()];
  const minute = thisMinute() - 5;
  const rows = [use(id, company_id, minute, ''), use(refused, company_id, minute, null)];
  gateway.nc.publish(requestsLoggedSubject, JSON.stringify(rows));
  await report([[marker, company_id, minute]]);
  await written(marker, minute);
  expect([await lastUsed(id), await lastUsed(refused)]).toEqual([iso(minute), null]);
});

test('a malformed report does not affect others', async () => {
  const id = await newKey();
  const minute = thisMinute() - 5;
  gateway.nc.publish(requestsLoggedSubject, 'not JSON');
  gateway.nc.publish(requestsLoggedSubject, '{"0":1}');
  gateway.nc.publish(requestsLoggedSubject, '[["a",null,{}],7]');
  await report([[id, company_id, minute]]);
  await written(id, minute);
});

test('a stopping service writes the uses that were reported to it', async () => {
  const own = await testWorld();
  const service = await own.startAccess();
  const askOwn = operatorOf(await own.openBus('operator'));
  const made = (await askOwn('createCompany', { name: 'Acme' })).body;
  const { id } = (await askOwn('createKey', { company_id: made.company_id, name: 'k', scopes: ['admin'] }))
    .body;
  service.bus.nc.publish(requestsLoggedSubject, JSON.stringify([use(id, made.company_id, thisMinute() - 1)]));
  await service.bus.nc.flush();
  await service.drain();
  const [row] = await own.database.query<{ last_used_utc: Date | null }>(
    'SELECT last_used_utc FROM api_keys',
  );
  expect(row!.last_used_utc).not.toBeNull();
});
