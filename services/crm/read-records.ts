import { contract, entityTag, notFound } from '@causeway/proto';
import { type Answer, handler, json } from '@causeway/runtime';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { CrmContext } from './context.ts';
import { openCursor, sealCursor } from './cursors.ts';
import {
  leastConsidered,
  maxPageLength,
  selectAffiliates,
  selectNotes,
  selectPeople,
  showAffiliate,
  showPerson,
  untilFilled,
} from './records.ts';
import type { Tables } from './tables.ts';

/** The lists and records that keys read whole (contract, "Reading records"). */
export const listPeople = ({ db }: CrmContext) =>
  handler(contract.listPeople, async ({ companyId, query }) => {
    const { limit, cursor, updated_since, kind, external_id } = query;
    const isWanted = ({ is_lead }: { readonly is_lead: boolean }): boolean =>
      kind === undefined || is_lead === (kind === 'lead');
    if (external_id) return peopleNamed(db, companyId, external_id, isWanted);
    return readPage(selectPeople(db, companyId), {
      companyId,
      list: `people ${kind ?? ''} ${updated_since?.getTime() ?? ''}`,
      name: 'people',
      order: ['updated_utc', 'client_id'],
      cursor,
      since: updated_since,
      limit,
      // A rare kind must not make one request read all records.
      most: kind === undefined ? limit : Math.max(limit, leastConsidered),
      show: showPerson,
      isWanted,
    });
  });

const peopleNamed = async (
  db: Kysely<Tables>,
  companyId: number,
  externalIds: readonly string[],
  isWanted: (person: { readonly is_lead: boolean }) => boolean,
): Promise<Answer> => {
  const rows = await selectPeople(db, companyId).where('external_id', 'in', externalIds).execute();
  const found = rows.map(showPerson).filter(isWanted);
  const byExternalId = new Map(found.map((person) => [person.external_id, person]));
  const asked = [...new Set(externalIds)];
  const people = asked.flatMap((externalId) => byExternalId.get(externalId) ?? []);
  const not_found = asked.filter((externalId) => !byExternalId.has(externalId));
  return json(200, { people, nextCursor: null, hasMore: false, not_found });
};

export const listAllAffiliates = ({ db }: CrmContext) =>
  handler(contract.listAllAffiliates, ({ companyId, query: { limit, cursor, updated_since } }) =>
    readPage(selectAffiliates(db, companyId), {
      companyId,
      list: `affiliates ${updated_since?.getTime() ?? ''}`,
      name: 'affiliates',
      order: ['updated_utc', 'employee_id'],
      cursor,
      since: updated_since,
      limit,
      show: showAffiliate,
    }),
  );

export const listNotes = ({ db }: CrmContext) =>
  handler(contract.listNotes, async ({ companyId, query: { limit, cursor }, id }) => {
    const clientId = id('client');
    await selectPeople(db, companyId)
      .where('client_id', '=', clientId)
      .executeTakeFirstOrThrow(() => notFound('client'));
    return readPage(selectNotes(db, companyId).where('client_id', '=', clientId), {
      companyId,
      list: `notes ${clientId}`,
      name: 'notes',
      order: ['client_note_id'],
      cursor,
      limit,
      show: (row) => row,
    });
  });

/** Rows of a list, from a place in an order that has an index. */
interface Rows<Row> {
  where(condition: RawBuilder<boolean>): Rows<Row>;
  orderBy(column: RawBuilder<unknown>): Rows<Row>;
  limit(count: number): { execute(): Promise<readonly Row[]> };
}

interface PageOf<Row, Shown> {
  readonly companyId: number;
  /** Names the list and its filters, for its cursors. */
  readonly list: string;
  /** The field of the answer. */
  readonly name: string;
  /** The id's column, after `updated_utc` or alone. */
  readonly order: readonly (keyof Row & string)[];
  readonly cursor: string | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
  /** How many rows to look at. */
  readonly most?: number;
  readonly show: (row: Row) => Shown;
  readonly isWanted?: (shown: Shown) => boolean;
}

const readPage = async <Row, Shown>(rows: Rows<Row>, page: PageOf<Row, Shown>): Promise<Answer> => {
  const { companyId, list, name, order, cursor } = page;
  const from = cursor ? openCursor(companyId, list, cursor, order.length) : null;
  const { entries, place, hasMore } = await untilFilled(from, (place) => readPart(rows, page, place));
  const nextCursor = hasMore ? `"${sealCursor(companyId, list, place!)}"` : null;
  return {
    status: 200,
    body: `{"${name}":[${entries.join()}],"nextCursor":${nextCursor},"hasMore":${hasMore}}`,
  };
};

/** A place of null is the beginning. */
const readPart = async <Row, Shown>(
  rows: Rows<Row>,
  { order, since, limit, most = limit, show, isWanted }: PageOf<Row, Shown>,
  after: readonly number[] | null,
) => {
  const conditions = [
    ...(since ? [sql<boolean>`updated_utc >= ${storable(since.getTime())}`] : []),
    ...(after ? [isAfter(order, after)] : []),
  ];
  const from = conditions.reduce((some, condition) => some.where(condition), rows);
  const ordered = order.reduce((some, column) => some.orderBy(sql.ref(column)), from);
  const found = await ordered.limit(most + 1).execute();

  const entries: string[] = [];
  let bytes = 0;
  let last: Row | undefined;
  for (const row of found.slice(0, most)) {
    if (entries.length === limit || bytes > maxPageLength) break;
    last = row;
    const shown = show(row);
    if (isWanted && !isWanted(shown)) continue;
    const entry = JSON.stringify(shown);
    entries.push(entry);
    bytes += entry.length;
  }
  const hasMore = last !== undefined && last !== found.at(-1);
  return {
    entries,
    place: last === undefined ? after : order.map((column) => Number(last![column])),
    hasMore,
  };
};

const isAfter = (order: readonly string[], place: readonly number[]): RawBuilder<boolean> => {
  const id = sql<boolean>`${sql.ref(order.at(-1)!)} > ${place.at(-1)}`;
  if (order.length === 1) return id;
  const time = storable(place[0]!);
  return sql`(updated_utc > ${time} OR (updated_utc = ${time} AND ${id}))`;
};

/** A time within those that MySQL compares with. */
const storable = (timeMs: number): Date => new Date(Math.min(Math.max(timeMs, 0), Date.UTC(9999, 0)));

export const getPerson = (context: CrmContext) => personOf(context, contract.getPerson, 'person');
export const getLead = (context: CrmContext) => personOf(context, contract.getLead, 'lead');
export const getClient = (context: CrmContext) => personOf(context, contract.getClient, 'client');

const personOf = <const O extends (typeof contract)['getPerson' | 'getLead' | 'getClient']>(
  { db }: CrmContext,
  operation: O,
  kind: 'person' | 'lead' | 'client',
) =>
  handler(operation, async ({ companyId, id }) => {
    const row = await selectPeople(db, companyId).where('client_id', '=', id(kind)).executeTakeFirst();
    const person = row && showPerson(row);
    if (!person || (kind !== 'person' && person.is_lead !== (kind === 'lead'))) throw notFound(kind);
    return record(person);
  });

export const getAffiliate = ({ db }: CrmContext) =>
  handler(contract.getAffiliate, async ({ companyId, id }) => {
    const employeeId = id('affiliate');
    const row = await selectAffiliates(db, companyId)
      .where('employee_id', '=', employeeId)
      .executeTakeFirstOrThrow(() => notFound('affiliate'));
    return record(showAffiliate(row));
  });

const record = (shown: { readonly version: number }): Answer => ({
  ...json(200, shown),
  headers: { ETag: entityTag(shown.version) },
});
