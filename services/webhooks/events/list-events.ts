import { contract, encodeEnvelope, invalidField } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import type { WebhooksCursors } from '../cursors.ts';
import { assertNothingRemoved, lastSequence, readPage, startOfLog } from './read-page.ts';

/**
 * A page of the event log. In ascending order, every page has a cursor, which later returns newer events; in
 * descending order, the last page has none.
 */
export const listEvents = ({ db, cursors }: WebhooksContext) =>
  handler(contract.listEvents, async (call) => {
    const { companyId, query } = call;
    const { order, cursor, type, limit } = query;
    const list = `events ${order}` as const;
    if (cursor === 'latest') {
      if (order !== 'asc') throw invalidField('cursor', 'invalid cursor: latest needs order=asc');
      const nextCursor = await cursors.seal(companyId, list, await lastSequence(db, companyId));
      return json(200, { events: [], nextCursor, hasMore: false });
    }
    let from = cursor === undefined ? undefined : await openCursor(cursors, companyId, order, cursor);
    if (order === 'asc') from ??= await startOfLog(db, companyId);
    const page = await readPage(db, companyId, { order, from, type, limit });
    if (order === 'asc' && cursor !== undefined) await assertNothingRemoved(db, companyId, from!, page);
    const { events, position, hasMore } = page;
    const goesOn = order === 'asc' || hasMore;
    const nextCursor = goesOn ? await cursors.seal(companyId, list, position) : null;
    const envelopes = events.flatMap((event, at) => [at === 0 ? opening : comma, encodeEnvelope(event)]);
    const rest = `],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}`;
    const body = Buffer.concat([...(events.length === 0 ? [opening] : envelopes), Buffer.from(rest)]);
    return { status: 200, body };
  });

/** @throws Problem `invalid_request`, which says so if the cursor belongs to the other order. */
const openCursor = async (
  cursors: WebhooksCursors,
  companyId: number,
  order: 'asc' | 'desc',
  cursor: string,
): Promise<number> => {
  try {
    return (await cursors.open(companyId, `events ${order}`, cursor))[0]!;
  } catch (error) {
    const other = order === 'asc' ? 'desc' : 'asc';
    await cursors.open(companyId, `events ${other}`, cursor).catch(() => {
      throw error;
    });
    throw invalidField('cursor', `invalid cursor: it belongs to order=${other}`);
  }
};

const opening = Buffer.from('{"events":[');
const comma = Buffer.from(',');
