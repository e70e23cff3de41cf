import { contract, encodeEnvelope, invalidField } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { lastSequence, readPage } from './read-page.ts';

/**
 * A page of the event log. In ascending order, the last page has a cursor too, which later returns newer events; in
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
    const [from] = cursor === undefined ? [] : await cursors.open(companyId, list, cursor);
    const { events, position, hasMore } = await readPage(db, companyId, { order, from, type, limit });
    const goesOn = order === 'asc' ? position > 0 : hasMore;
    const nextCursor = goesOn ? await cursors.seal(companyId, list, position) : null;
    const envelopes = events.flatMap((event, at) => [at === 0 ? opening : comma, encodeEnvelope(event)]);
    const rest = `],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}`;
    const body = Buffer.concat([...(events.length === 0 ? [opening] : envelopes), Buffer.from(rest)]);
    return { status: 200, body };
  });

const opening = Buffer.from('{"events":[');
const comma = Buffer.from(',');
