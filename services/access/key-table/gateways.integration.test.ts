import { createLog } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { joinAsGateway, operatorOf, testWorld } from '../test-world.ts';

const world = await testWorld();
await world.startAccess();
const ask = operatorOf(await world.openBus('operator'));
const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
const newKey = async () => (await ask('createKey', { company_id, name: 'k', scopes: ['admin'] })).body;
const revoke = async (id: number) => {
  const startedMs = performance.now();
  const { status } = await ask('revokeKey', { id });
  const endedMs = performance.now();
  return { status, endedMs, elapsedMs: endedMs - startedMs };
};

test('without any gateway, revoking does not wait', async () => {
  const { id } = await newKey();
  const { status, elapsedMs } = await revoke(id);
  expect(status).toBe(200);
  expect(elapsedMs).toBeLessThan(4000);
});

test('revoking answers only after the last gateway has answered, however late', async () => {
  const { id } = await newKey();
  const quick = await joinAsGateway(await world.openBus('gateway'), 'quick');
  const late = await joinAsGateway(await world.openBus('gateway'), 'late', { answerAfterMs: 1200 });
  const { status, endedMs } = await revoke(id);
  expect(status).toBe(200);
  expect(quick.heard[0]!.change).toEqual({
    name: expect.stringMatching(/^key\./),
    version: 2,
    entry: expect.objectContaining({ id, version: 2, active: false }),
  });
  expect(endedMs).toBeGreaterThan(late.heard[0]!.answeredMs);
  await Promise.all([quick.leave(), late.leave()]);
});

test('creating a key waits until every gateway accepts it', async () => {
  const late = await joinAsGateway(await world.openBus('gateway'), 'late', { answerAfterMs: 400 });
  await newKey();
  expect(performance.now()).toBeGreaterThan(late.heard[0]!.answeredMs);
  expect(late.heard[0]!.change.version).toBe(1);
  await late.leave();
});

test('revoking does not wait for a gateway that has left', async () => {
  const { id } = await newKey();
  const gateway = await joinAsGateway(await world.openBus('gateway'), 'leaver');
  await gateway.leave();
  expect((await revoke(id)).elapsedMs).toBeLessThan(4000);
});

test('the wait ends when the awaited gateway leaves', async () => {
  const { id } = await newKey();
  const gateway = await joinAsGateway(await world.openBus('gateway'), 'leaver');
  gateway.fallSilent();
  setTimeout(() => void gateway.leave(), 700);
  const { elapsedMs } = await revoke(id);
  expect(elapsedMs).toBeGreaterThan(600);
  expect(elapsedMs).toBeLessThan(2900);
});

test('the wait for a killed gateway ends when its entry expires', async () => {
  const { id } = await newKey();
  const gateway = await joinAsGateway(await world.openBus('gateway'), 'victim');
  gateway.die();
  const { status, elapsedMs } = await revoke(id);
  expect(status).toBe(200);
  expect(elapsedMs).toBeGreaterThan(3000);
  expect(elapsedMs).toBeLessThan(6500);
});

test('the wait for a silent gateway ends after five seconds, with a warning', async () => {
  const warnings: unknown[] = [];
  const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
  const noting = Object.assign(Object.create(log), { warn: (facts: unknown) => warnings.push(facts) });
  const own = await testWorld();
  await own.startAccess({ log: noting });
  const askOwn = operatorOf(await own.openBus('operator'));
  const made = (await askOwn('createCompany', { name: 'Acme' })).body;
  const gateway = await joinAsGateway(await own.openBus('gateway'), 'silent');
  gateway.fallSilent();
  const startedMs = performance.now();
  expect((await askOwn('setLimits', { company_id: made.company_id, read: 1 })).status).toBe(200);
  expect(performance.now() - startedMs).toBeGreaterThan(4900);
  expect(warnings).toContainEqual({ name: `company.${made.company_id}`, version: 2, silent: ['silent'] });
});

test('a gateway that missed the first message gets another', async () => {
  const { id } = await newKey();
  const bus = await world.openBus('gateway');
  const deaf = await joinAsGateway(bus, 'reconnecting');
  deaf.fallSilent();
  let hearing: Awaited<ReturnType<typeof joinAsGateway>> | undefined;
  setTimeout(async () => {
    hearing = await joinAsGateway(bus, 'reconnecting');
  }, 600);
  const { elapsedMs } = await revoke(id);
  expect(elapsedMs).toBeGreaterThan(500);
  expect(elapsedMs).toBeLessThan(4500);
  await Promise.all([deaf.leave(), hearing?.leave()]);
});
