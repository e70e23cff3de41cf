import { type EventType, encodeEnvelope } from '@causeway/proto';
import { describe, expect, test } from 'vitest';
import { bootWebhooks } from '../testing/boot.ts';
import { makeEvents } from '../testing/make.ts';

const booted = await bootWebhooks({ services: 2 });
const { ask, db, database } = booted;
let lastCompany = 2000;
const newCompany = (): number => ++lastCompany;

type Query = Readonly<Record<string, string>>;
const list = async (company: number, query: Query = {}) => {
  const { status, body } = await ask('listEvents', company, { query });
  expect([status, body.error]).toEqual([200, undefined]);
  return body as {
    readonly events: readonly {
      readonly id: number;
      readonly type: EventType;
      readonly createdUtc: string;
    }[];
    readonly nextCursor: string | null;
    readonly hasMore: boolean;
  };
};
const idsOf = (page: { readonly events: readonly { readonly id: number }[] }) =>
  page.events.map(({ id }) => id);

const walk = async (company: number, query: Query) => {
  const pages: Awaited<ReturnType<typeof list>>[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = await list(company, cursor ? { ...query, cursor } : query);
    pages.push(page);
    cursor = page.nextCursor;
    if (!page.hasMore) return pages;
  }
};

describe('The event log', () => {
  test('is returned in exactly the bytes that are delivered, newest first', async () => {
    const company = newCompany();
    const [first, second] = await makeEvents(db, company, [
      { payload: { text: 'ä "quoted" \u2028', big: 12345678901234567890n.toString(), b: 1, a: 2 } },
      { type: 'lead.created' },
    ]);
    const { text } = await ask('listEvents', company);
    expect(text).toBe(
      `{"events":[${encodeEnvelope(second!)},${encodeEnvelope(first!)}],"nextCursor":null,"hasMore":false}`,
    );
    const { text: one, status } = await ask('getEvent', company, { params: [first!.event_id] });
    expect([status, one]).toEqual([200, encodeEnvelope(first!).toString()]);
  });

  test('of a company without events is empty, and can be followed from its beginning in ascending order', async () => {
    for (const type of [undefined, 'lead.created'] as const) {
      const company = newCompany();
      const query = type ? { type } : {};
      expect(await list(company, query)).toEqual({ events: [], nextCursor: null, hasMore: false });
      const first = await list(company, { ...query, order: 'asc' });
      expect(first).toEqual({ events: [], nextCursor: expect.any(String), hasMore: false });
      const next = { ...query, order: 'asc', cursor: first.nextCursor! };
      expect(await list(company, next)).toEqual(first);
      const made = await makeEvents(db, company, [{ type: 'lead.created' }]);
      expect(idsOf(await list(company, next))).toEqual(made.map(({ event_id }) => event_id));
    }
  });

  test.each(['desc', 'asc'])('is read %s in pages of any size, each event once', async (order) => {
    const company = newCompany();
    const ids = (
      await makeEvents(
        db,
        company,
        Array.from({ length: 130 }, () => ({})),
      )
    ).map(({ event_id }) => event_id);
    const expected = order === 'asc' ? ids : ids.toReversed();
    for (const limit of ['1', '26', '27', '65', '100']) {
      const pages = await walk(company, { order, limit });
      expect(pages.flatMap(idsOf)).toEqual(expected);
      expect(pages).toHaveLength(Math.ceil(130 / Number(limit)));
      expect(pages.at(-1)!.nextCursor === null).toBe(order === 'desc');
    }
  });

  test('is followed from now on with cursor=latest, which is ascending only', async () => {
    for (const before of [[], [{}, { type: 'lead.created' as const }]]) {
      const company = newCompany();
      await makeEvents(db, company, before);
      const start = await list(company, { order: 'asc', cursor: 'latest' });
      expect(start).toEqual({ events: [], nextCursor: expect.any(String), hasMore: false });
      const later = await makeEvents(db, company, [{}, {}]);
      const next = await list(company, { order: 'asc', cursor: start.nextCursor! });
      expect(idsOf(next)).toEqual(later.map(({ event_id }) => event_id));
    }
    const { status, body } = await ask('listEvents', newCompany(), { query: { cursor: 'latest' } });
    expect([status, body.error]).toEqual([400, 'invalid cursor: latest needs order=asc']);
  });

  test('is filtered by type in either order, and a filtered cursor continues after the events it has skipped', async () => {
    const company = newCompany();
    const events = await makeEvents(
      db,
      company,
      Array.from(
        { length: 60 },
        (_, at) => ({ type: at % 7 === 3 ? 'payment.failed' : 'lead.created' }) as const,
      ),
    );
    const ids = events.filter(({ type }) => type === 'payment.failed').map(({ event_id }) => event_id);
    for (const order of ['asc', 'desc']) {
      const pages = await walk(company, { order, type: 'payment.failed', limit: '2' });
      expect(pages.flatMap(idsOf)).toEqual(order === 'asc' ? ids : ids.toReversed());
    }
    const none = await list(company, { order: 'asc', type: 'agreement.signed' });
    expect([none.events, none.hasMore]).toEqual([[], false]);
    const [added] = await makeEvents(db, company, [{ type: 'agreement.signed' }]);
    const later = await list(company, { order: 'asc', type: 'agreement.signed', cursor: none.nextCursor! });
    expect(idsOf(later)).toEqual([added!.event_id]);
  });

  test('finds a rare type behind tens of thousands of others', async () => {
    const company = newCompany();
    const many = Array.from({ length: 25_000 }, () => ({}));
    const [rare] = await makeEvents(db, company, [{ type: 'agreement.signed' }, ...many]);
    for (const order of ['asc', 'desc']) {
      const pages = await walk(company, { order, type: 'agreement.signed' });
      expect(pages.flatMap(idsOf)).toEqual([rare!.event_id]);
    }
  });

  test('is not slower across the gap that a restored backup leaves in the numbers', async () => {
    const company = newCompany();
    const [before] = await makeEvents(db, company, [{ type: 'agreement.signed' }, {}, {}]);
    await database.query(
      `UPDATE ${database.name}.event_sequences SET last_sequence = last_sequence + 1000000000 WHERE company_id = ?`,
      [company],
    );
    const [, after] = await makeEvents(db, company, [{}, { type: 'agreement.signed' }]);
    for (const order of ['asc', 'desc']) {
      const [page, ...more] = await walk(company, { order, type: 'agreement.signed' });
      const expected = [before!.event_id, after!.event_id];
      expect(idsOf(page!)).toEqual(order === 'asc' ? expected : expected.toReversed());
      expect(more.flatMap(idsOf)).toEqual([]);
    }
  });

  test.each([undefined, 'client.created'] as const)(
    'answers 410 to an ascending cursor whose next events are removed, and to no other (type: %s)',
    async (type) => {
      const company = newCompany();
      const more = type ? { type } : {};
      const beginning = await list(company, { ...more, order: 'asc' });
      const events = await makeEvents(
        db,
        company,
        Array.from({ length: 30 }, () => ({})),
      );
      const idsFrom = (at: number) => events.slice(at).map(({ event_id }) => event_id);
      const cursorAfter = async (limit: number, order = 'asc') =>
        (await list(company, { ...more, order, limit: String(limit) })).nextCursor!;
      const follow = (cursor: string) =>
        ask('listEvents', company, { query: { ...more, order: 'asc', cursor } });
      const [tooOld, inTime, end, down] = [
        [beginning.nextCursor!, await cursorAfter(5), await cursorAfter(19)],
        await cursorAfter(20),
        await cursorAfter(30),
        await cursorAfter(5, 'desc'),
      ];
      const removeTo = (sequence: number) =>
        database.query(`DELETE FROM ${database.name}.events WHERE company_id = ? AND sequence <= ?`, [
          company,
          sequence,
        ]);
      await removeTo(20);
      const { createdUtc } = (await list(company, { order: 'asc' })).events[0]!;
      for (const cursor of tooOld)
        expect(await follow(cursor)).toMatchObject({
          status: 410,
          body: { error: expect.any(String), reason: 'cursor_expired', oldestUtc: createdUtc },
        });
      expect(idsOf((await follow(inTime)).body as never)).toEqual(idsFrom(20));
      const walked = await walk(company, { ...more, order: 'asc', limit: '4' });
      expect(walked.flatMap(idsOf)).toEqual(idsFrom(20));
      // In descending order nothing is skipped: the log ends earlier.
      const older = await list(company, { ...more, cursor: down, limit: '100' });
      expect(idsOf(older)).toEqual(idsFrom(20).toReversed().slice(5));

      await removeTo(30);
      expect((await follow(inTime)).body).toMatchObject({ reason: 'cursor_expired', oldestUtc: null });
      // No event came after these cursors, however old they are.
      const fresh = await list(company, { ...more, order: 'asc' });
      for (const cursor of [end, fresh.nextCursor!])
        expect(await list(company, { ...more, order: 'asc', cursor })).toEqual(fresh);
      const [added] = await makeEvents(db, company, [{}]);
      for (const cursor of [end, fresh.nextCursor!])
        expect(idsOf((await follow(cursor)).body as never)).toEqual([added!.event_id]);
    },
  );

  test.each(['asc', 'desc'])(
    'is returned %s a thousand at a time, fewer where payloads are large',
    async (order) => {
      const company = newCompany();
      const small = Array.from({ length: 1_500 }, () => ({}));
      const large = Array.from({ length: 20 }, () => ({ payload: { text: 'x'.repeat(262_000) } }));
      const types = ['lead.created', 'payment.failed', 'client.created'] as const;
      const events = await makeEvents(
        db,
        company,
        [...small, ...large, ...small].map((event, at) => ({ ...event, type: types[at % 3]! })),
      );
      const inOrder = order === 'asc' ? events : events.toReversed();
      const pages = await walk(company, { order, limit: '1000' });
      expect(pages.flatMap(idsOf)).toEqual(inOrder.map(({ event_id }) => event_id));
      expect(pages.map(({ events }) => events.length)).toEqual([1_000, 508, 8, 1_000, 504]);
      const two = await walk(company, { order, limit: '1000', type: 'payment.failed,client.created' });
      expect(two.flatMap(idsOf)).toEqual(
        inOrder.filter(({ type }) => type !== 'lead.created').map(({ event_id }) => event_id),
      );
      expect(two.length).toBeLessThan(6);
    },
  );

  test('names origins and numbers with include=meta', async () => {
    const company = newCompany();
    const [first, second] = await makeEvents(db, company, [{}, { type: 'lead.created' }]);
    await db
      .updateTable('events')
      .set({ origin: 'member:7' })
      .where('company_id', '=', company)
      .where('sequence', '=', 2)
      .execute();
    const { text } = await ask('listEvents', company, {
      query: { order: 'asc', include: 'meta', limit: '1' },
    });
    const { nextCursor } = JSON.parse(text);
    expect(text).toBe(
      `{"events":[],"entries":[{"event":${encodeEnvelope(first!)},"origin":null,"sequence":1}],"nextCursor":"${nextCursor}","hasMore":true}`,
    );
    // A cursor is the same place with and without.
    const next = { order: 'asc', cursor: nextCursor };
    expect(idsOf(await list(company, next))).toEqual([second!.event_id]);
    const { body } = await ask('listEvents', company, { query: { ...next, include: 'meta' } });
    expect(body.entries).toEqual([
      { event: JSON.parse(encodeEnvelope(second!).toString()), origin: 'member:7', sequence: 2 },
    ]);
    const latest = await ask('listEvents', company, {
      query: { order: 'asc', include: 'meta', cursor: 'latest' },
    });
    expect(latest.body).toEqual({ events: [], entries: [], nextCursor: expect.any(String), hasMore: false });
  });
});

describe('A cursor', () => {
  test('is invalid when it is another company’s, of the other order, changed, or made up', async () => {
    const [mine, theirs] = [newCompany(), newCompany()];
    for (const company of [mine, theirs]) await makeEvents(db, company, [{}, {}, {}]);
    const cursor = (await list(mine, { order: 'asc', limit: '1' })).nextCursor!;
    const foreign = (await list(theirs, { order: 'asc', limit: '1' })).nextCursor!;
    const other = (await list(mine, { order: 'desc', limit: '1' })).nextCursor!;
    expect(cursor).toMatch(/^[\w-]{22}$/);
    expect(new Set([cursor, foreign, other]).size).toBe(3);
    const changed = Array.from(cursor, (letter, at) => {
      const letters = [...cursor];
      letters[at] = letter === 'A' ? 'B' : 'A';
      return letters.join('');
    });
    const upward = await ask('listEvents', mine, { query: { order: 'asc', cursor: other } });
    expect([upward.status, upward.body.error]).toEqual([400, 'invalid cursor: it belongs to order=desc']);
    const wrong = [foreign, ...changed, cursor.slice(1), `${cursor}A`, `${cursor}==`, 'x', '!!', 'null'];
    for (const text of wrong) {
      const { status, body } = await ask('listEvents', mine, { query: { order: 'asc', cursor: text } });
      expect([text, status, body.error]).toEqual([text, 400, 'invalid cursor']);
    }
    expect((await list(mine, { order: 'asc', cursor })).events).toHaveLength(2);
  });

  test('is the same for all replicas, and from one start to the next', async () => {
    const company = newCompany();
    await makeEvents(db, company, [{}, {}]);
    const cursors = await Promise.all(
      Array.from({ length: 20 }, async () => (await list(company, { limit: '1' })).nextCursor),
    );
    expect(new Set(cursors).size).toBe(1);
    const [again] = await booted.context.cursors.open(company, 'events desc', cursors[0]!);
    expect(again).toBe(2);
  });
});

test.each([
  [{ limit: '0' }, /limit/],
  [{ limit: '1001' }, /limit/],
  [{ wait: '5' }, /^wait needs order=asc$/],
  [{ order: 'up' }, /^order must be asc or desc$/],
  [{ type: 'x.y' }, /^unknown event type: x\.y$/],
  [{ page: '2' }, /^unknown query parameter: page$/],
])('%j is refused', async (query, error) => {
  const { status, body } = await ask('listEvents', newCompany(), { query: query as Query });
  expect([status, body.error]).toEqual([400, expect.stringMatching(error)]);
});
