import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayBucketSettings } from '@causeway/proto';
import { createLog } from '@causeway/runtime';
import { beforeEach, expect, test } from 'vitest';
import { joinAsGateway, operatorOf, testWorld } from '../testing/boot.ts';

/** Warnings that name gateways which did not confirm in time. */
const warnings: unknown[] = [];
const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
const world = await testWorld();
await world.startAccess({
  log: Object.assign(Object.create(log), {
    warn: (facts: object) => 'silent' in facts && warnings.push(facts),
  }),
});
const ask = operatorOf(await world.openBus('operator'));
const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
const newKey = async () => (await ask('createKey', { company_id, name: 'k', scopes: ['admin'] })).body;
const revoke = async (id: number) => {
  const { status } = await ask('revokeKey', { id });
  return { status, endedMs: performance.now() };
};

beforeEach(() => {
  warnings.length = 0;
});

const expectNoWaitInVain = () => expect(warnings).toEqual([]);

test('without any gateway, revoking does not wait', async () => {
  const { id } = await newKey();
  expect((await revoke(id)).status).toBe(200);
  expectNoWaitInVain();
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
  await revoke(id);
  expectNoWaitInVain();
});

test('the wait ends when the awaited gateway leaves', async () => {
  const { id } = await newKey();
  const gateway = await joinAsGateway(await world.openBus('gateway'), 'leaver');
  gateway.fallSilent();
  let leftMs = Number.POSITIVE_INFINITY;
  setTimeout(() => {
    leftMs = performance.now();
    void gateway.leave();
  }, 700);
  expect((await revoke(id)).endedMs).toBeGreaterThan(leftMs);
  expectNoWaitInVain();
});

test('the wait for a killed gateway ends when its entry expires', async () => {
  const { id } = await newKey();
  const gateway = await joinAsGateway(await world.openBus('gateway'), 'victim', { renews: false });
  const listedMs = performance.now();
  gateway.die();
  // So that the entry expires well before the wait's own deadline.
  await sleep(gatewayBucketSettings.ttl / 2);
  const { status, endedMs } = await revoke(id);
  expect(status).toBe(200);
  expect(endedMs - listedMs).toBeGreaterThan(gatewayBucketSettings.ttl - 1000);
  expectNoWaitInVain();
});

test('the wait for a silent gateway ends after five seconds, with a warning', async () => {
  const gateway = await joinAsGateway(await world.openBus('gateway'), 'silent');
  gateway.fallSilent();
  const startedMs = performance.now();
  expect((await ask('setLimits', { company_id, read: 1 })).status).toBe(200);
  expect(performance.now() - startedMs).toBeGreaterThan(4900);
  expect(warnings).toContainEqual({ name: `company.${company_id}`, version: 2, silent: ['silent'] });
  await gateway.leave();
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
  const { endedMs } = await revoke(id);
  expect(endedMs).toBeGreaterThan(hearing!.heard[0]!.answeredMs);
  expectNoWaitInVain();
  await Promise.all([deaf.leave(), hearing!.leave()]);
});
