import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readPage } from '../events/read-page.ts';
import { shownEnvelope } from './event.ts';

export const listPortalEvents = ({ db, cursors }: WebhooksContext) =>
  handler(contract.listPortalEvents, async ({ companyId, user, query }) => {
    const { cursor, type, limit } = query;
    const [from] = cursor === undefined ? [] : await cursors.open(companyId, 'events desc', cursor);
    const page = await readPage(db, companyId, { order: 'desc', from, type, limit });
    const { events, position, hasMore } = page;
    const nextCursor = hasMore ? await cursors.seal(companyId, 'events desc', position) : null;
    const shown = events.flatMap((event, at) => [
      Buffer.from(at === 0 ? '' : ','),
      shownEnvelope(event, user.role),
    ]);
    const rest = `],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}`;
    return { status: 200, body: Buffer.concat([Buffer.from('{"events":['), ...shown, Buffer.from(rest)]) };
  });
