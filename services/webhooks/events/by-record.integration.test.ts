import { beforeEach, expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { makeDelivery, makeEvents } from '../testing/make.ts';
import { bootPortal } from '../testing/portal.ts';

let company = 7600;
const webhooks = await bootPortal();
beforeEach(() => {
  company++;
});

/** One event for each payload, with a delivery. @returns the ids of the events. */
const deliver = async (payloads: readonly Readonly<Record<string, unknown>>[]): Promise<number[]> => {
  const subscription_id = await makeSubscription(webhooks.db, company);
  const events = await makeEvents(
    webhooks.db,
    company,
    payloads.map((payload) => ({ payload })),
  );
  for (const { event_id, created_utc } of events)
    await makeDelivery(webhooks.db, { company_id: company, subscription_id, event_id, created_utc });
  return events.map(({ event_id }) => event_id);
};

const eventIds = async (query: Readonly<Record<string, string>>, asker = company) => {
  const { body } = await webhooks.portal('listPortalEvents', asker, { query });
  return (body as { events: { id: number }[] }).events.map(({ id }) => id);
};
const deliveryEvents = async (query: Readonly<Record<string, string>>, asker = company) => {
  const { body } = await webhooks.portal('listDeliveries', asker, { query });
  return (body as { deliveries: { eventId: number }[] }).deliveries.map(({ eventId }) => eventId);
};

test('Events and deliveries are found by the client and by the invoice that the payload names', async () => {
  const [created, invoice, other, nested] = await deliver([
    { client_id: 3617 },
    { client_id: 3617, invoice_id: 88 },
    { client_id: 88, invoice_id: 3617 },
    { note: '"client_id":3617', inner: { client_id: 3617 }, client_id: '3617x' },
  ]);
  for (const find of [eventIds, deliveryEvents]) {
    expect(await find({ clientId: '3617' })).toEqual([invoice, created]);
    expect(await find({ invoiceId: '88' })).toEqual([invoice]);
    expect(await find({ clientId: '88', invoiceId: '3617' })).toEqual([other]);
    expect(await find({ clientId: '3617' }, company + 1000)).toEqual([]);
    expect(await find({})).toEqual([nested, other, invoice, created]);
  }
});

test('Events and deliveries are found by the email and the external id that the payload holds', async () => {
  const [first, second, third] = await deliver([
    { email: 'Łukasz@Example.com', external_id: 'ORD-10040' },
    { email: 'łukasz@example.com' },
    { external_id: 10040 },
    { inner: { email: 'łukasz@example.com' }, external_id: null },
  ]);
  for (const find of [eventIds, deliveryEvents]) {
    expect(await find({ email: 'ŁUKASZ@example.COM' })).toEqual([second, first]);
    expect(await find({ email: 'lukasz@example.com' })).toEqual([]);
    expect(await find({ email: 'łukasz@example' })).toEqual([]);
    expect(await find({ externalId: 'ORD-10040' })).toEqual([first]);
    expect(await find({ externalId: 'ord-10040' })).toEqual([]);
    expect(await find({ externalId: '10040' })).toEqual([third]);
    expect(await find({ externalId: '10040' }, company + 1000)).toEqual([]);
  }
});

test('A row says whom its event is about, and hides the name from viewers', async () => {
  const person = { client_id: 3617, first_name: 'Łukasz', last_name: 'Hopper', email: 'l@example.com' };
  await deliver([person, { ...person, invoice_number: 'x'.repeat(9_000) }, { note: 'nobody' }]);
  const shown = async (role: 'viewer' | 'developer') => {
    const { body } = await webhooks.portal('listDeliveries', company, { role });
    return body.deliveries.map(({ subject }: { subject: unknown }) => subject);
  };
  const subject = { kind: 'client', id: 3617, name: 'Łukasz Hopper' };
  const hidden = { ...subject, name: null };
  expect(await shown('developer')).toEqual([null, hidden, subject]);
  expect(await shown('viewer')).toEqual([null, hidden, hidden]);
});

test('Pages of a record with more events than one query reads hold each delivery once', async () => {
  const made = await deliver(Array.from({ length: 520 }, () => ({ client_id: 5 })));
  const read: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { clientId: '5', limit: '100', ...(cursor && { cursor }) };
    const { body } = await webhooks.portal('listDeliveries', company, { query });
    const page = body as { deliveries: { eventId: number }[]; nextCursor: string | null };
    read.push(...page.deliveries.map(({ eventId }) => eventId));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(read).toEqual(made.toReversed());
});
