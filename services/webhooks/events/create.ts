import { originOf } from '@causeway/identity';
import {
  contract,
  encodeEnvelope,
  type IngestAnswer,
  ingestSubject,
  internalError,
  invalid,
  matches,
  problem,
  type StoredEvent,
  samplePayload,
} from '@causeway/proto';
import { type CallIdentity, handler } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { askService } from '../ask.ts';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { readEvent } from './read.ts';

/** Makes a real event by the way that the CRM's other modules take, and answers its envelope. */
export const createTestEvent = (context: WebhooksContext) =>
  handler(contract.createTestEvent, async (call) => {
    const { db, now, once } = context;
    const { companyId, body, identity, deadlineMs } = call;
    const earlier = await once.find(identity);
    if (earlier) return earlier;
    const { type, payload = samplePayload(type, now()) } = body;
    const dedupeKey = identity && dedupeKeyOf(identity);
    const testEvent = { companyId, type, payload, isTest: true, origin: originOf(call), dedupeKey };
    const answer = await askService<IngestAnswer>(context, ingestSubject, testEvent, deadlineMs);
    if ('error' in answer) {
      const cause = new Error(`the event was not taken: ${answer.error}`);
      throw answer.retry ? problem('service_unavailable', cause) : invalid(answer.details ?? []);
    }
    const event = await readEvent(db, companyId, answer.id);
    if (!event) throw internalError(new Error(`event ${answer.id} was added and is not there`));
    const subscriptionCount = await countSubscriptions(db, event);
    const envelope = encodeEnvelope(event).subarray(0, -1);
    const bytes = Buffer.concat([envelope, Buffer.from(`,"subscriptionCount":${subscriptionCount}}`)]);
    return once.carryOut(identity, async () => ({ status: 202, body: bytes }));
  });

/** Contains the fingerprint, so that a key that is used for another body never finds this event. */
const dedupeKeyOf = ({ key, fingerprint }: CallIdentity): string =>
  `call:${key.toString('hex')}:${fingerprint?.toString('hex') ?? ''}`;

const countSubscriptions = async (
  db: Kysely<Tables>,
  { company_id, type, payload }: StoredEvent,
): Promise<number> => {
  const subscriptions = await db
    .selectFrom('subscriptions')
    .select('conditions')
    .where('company_id', '=', company_id)
    .where('enabled', '=', 1)
    .where(sql<boolean>`(${type} member of (event_types))`)
    .execute();
  const given: unknown = JSON.parse(payload.toString());
  return subscriptions.filter(({ conditions }) => matches(conditions, given)).length;
};
