import type { EventType, StoredEvent } from '@causeway/proto';
import type { Database } from '@causeway/runtime';
import type { Insertable } from 'kysely';
import type { Tables } from '../tables.ts';
import { makeEvents } from './make.ts';

/** An enabled subscription for `client.created` by default, with its queue. @returns its id. */
export const makeSubscription = async (
  db: Database<Tables>,
  companyId: number,
  fields: Partial<Omit<Insertable<Tables['subscriptions']>, 'event_types'>> & {
    readonly event_types?: readonly EventType[];
    readonly consecutive_failures?: number;
  } = {},
): Promise<number> => {
  const { event_types = ['client.created'], consecutive_failures = 0, ...rest } = fields;
  const now = new Date();
  const { insertId } = await db
    .insertInto('subscriptions')
    .values({
      company_id: companyId,
      name: null,
      description: null,
      url: 'https://hooks.example.com/causeway',
      event_types: JSON.stringify(event_types),
      managed_by: null,
      disabled_reason: null,
      disabled_utc: null,
      secret: Buffer.alloc(1),
      previous_secret: null,
      previous_secret_until: null,
      created_utc: now,
      updated_utc: now,
      ...rest,
    })
    .executeTakeFirstOrThrow();
  const subscription_id = Number(insertId);
  await db
    .insertInto('delivery_queues')
    .values({ company_id: companyId, subscription_id, next_due_utc: null, consecutive_failures })
    .execute();
  return subscription_id;
};

/** Events that are committed, under leases that have expired: nobody got their messages. */
export const commitEvents = async (
  db: Database<Tables>,
  companyId: number,
  events: Parameters<typeof makeEvents>[2],
): Promise<readonly StoredEvent[]> => {
  const made = await makeEvents(db, companyId, events);
  const rows = await db
    .selectFrom('events')
    .select(['company_id', 'event_id', 'sequence', 'created_utc'])
    .where('company_id', '=', companyId)
    .where(
      'event_id',
      'in',
      made.map(({ event_id }) => event_id),
    )
    .execute();
  for (let at = 0; at < rows.length; at += 1_000)
    await db
      .insertInto('event_outbox')
      .values(rows.slice(at, at + 1_000).map((row) => ({ ...row, leased_until: new Date() })))
      .execute();
  return made;
};

export { startFanOut } from '../../dispatcher/testing/start-fan-out.ts';
