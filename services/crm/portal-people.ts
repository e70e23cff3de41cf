import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { CrmContext } from './context.ts';
import { selectPeople, showPerson } from './records.ts';
import { findByWords } from './search/search-clients.ts';
import type { Tables } from './tables.ts';

export const listPortalPeople = ({ db }: CrmContext) =>
  handler(contract.listPortalPeople, async ({ companyId, user, query: { ids = [], q }, deadlineMs }) => {
    const isViewer = user.role === 'viewer';
    const exact = q === undefined ? [] : await findExactly(db, companyId, q);
    // Parts of a text would let viewers guess, letter by letter, what is hidden from them.
    const similar =
      q === undefined || isViewer ? [] : await findByWords(db, { companyId, q, limit: maxFound, deadlineMs });
    const found = [...exact, ...similar.map(({ client_id }) => client_id)].slice(0, maxFound);
    const clientIds = [...new Set([...ids, ...found])];
    const rows = clientIds.length === 0 ? [] : await selectShown(db, companyId, clientIds);
    const byId = new Map(rows.map((row) => [row.client_id, showPerson(row)]));
    return json(200, {
      people: clientIds.flatMap((id) => {
        const person = byId.get(id);
        if (!person) return [];
        return shownPerson(person, isViewer);
      }),
    });
  });

const maxFound = 8;

export const getPortalPerson = ({ db }: CrmContext) =>
  handler(contract.getPortalPerson, async (call) => {
    const { companyId, user } = call;
    const id = call.id('person');
    const isViewer = user.role === 'viewer';
    const [row, erasure] = await Promise.all([
      selectPeople(db, companyId, [
        ...shownFields,
        'phone',
        'status',
        'version',
        'created_utc',
        'updated_utc',
      ])
        .select('clients.origin')
        .where('client_id', '=', id)
        .executeTakeFirst(),
      db
        .selectFrom('erasures')
        .select('erased_utc')
        .where('company_id', '=', companyId)
        .where('client_id', '=', id)
        .executeTakeFirst(),
    ]);
    return json(200, {
      person: row
        ? {
            ...shownPerson(showPerson(row), isViewer),
            phone: isViewer ? null : row.phone,
            status: row.status,
            version: row.version,
            createdUtc: row.created_utc,
            updatedUtc: row.updated_utc,
            origin: row.origin,
          }
        : null,
      erasedUtc: erasure?.erased_utc ?? null,
    });
  });

const shownFields = ['client_id', 'first_name', 'last_name', 'email', 'external_id', 'is_lead'] as const;

type ShownPerson = Omit<Awaited<ReturnType<typeof selectShown>>[number], 'is_lead'> & {
  readonly is_lead: boolean;
};

const shownPerson = (person: ShownPerson, isViewer: boolean) => ({
  id: person.client_id,
  name: isViewer ? null : `${person.first_name} ${person.last_name}`,
  email: isViewer ? null : person.email,
  externalId: person.external_id,
  isLead: person.is_lead,
});

const selectShown = (db: Kysely<Tables>, companyId: number, ids: readonly number[]) =>
  selectPeople(db, companyId, shownFields).where('client_id', 'in', ids).execute();

/** Each condition has an index; together they might not use it. */
const findExactly = async (db: Kysely<Tables>, companyId: number, q: string): Promise<readonly number[]> => {
  const ofCompany = db
    .selectFrom('clients')
    .select('client_id')
    .where('company_id', '=', companyId)
    .orderBy('client_id', 'desc')
    .limit(maxFound);
  const lists = await Promise.all([
    /^[1-9]\d{0,14}$/.test(q) ? ofCompany.where('client_id', '=', Number(q)).execute() : [],
    ofCompany.where('external_id', '=', q).execute(),
    q.includes('@') ? ofCompany.where('email', '=', q).execute() : [],
  ]);
  return lists.flat().map(({ client_id }) => client_id);
};
