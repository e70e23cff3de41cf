import { beforeAll, beforeEach, expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { makeDelivery, makeEvents } from '../testing/make.ts';
import { type BootedPortal, bootPortal } from '../testing/portal.ts';

let webhooks: BootedPortal;
let company = 7600;
beforeAll(async () => {
  webhooks = await bootPortal();
});
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
