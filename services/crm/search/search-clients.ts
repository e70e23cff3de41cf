import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { CrmContext } from '../context.ts';
import { phoneDigits } from '../phones.ts';
import type { Tables } from '../tables.ts';
import { type FoundClient, findByText, foundColumns } from './find-by-text.ts';
import { fold } from './fold.ts';

/** Matches by external id or phone number, the most specific, come first (contract, "Client search"). */
export const searchClients = ({ db }: CrmContext) =>
  handler(contract.searchClients, async ({ companyId, query, deadlineMs }) => {
    const { q, limit } = query;
    const isId = /^\d+$/.test(q);
    const found =
      q === ''
        ? []
        : isId
          ? await findById(db, companyId, Number(q))
          : await findByWords(db, { companyId, q, limit, deadlineMs });
    const clients = found.map(labelled);
    return json(200, { clients, count: clients.length });
  });

interface WordSearch {
  readonly companyId: number;
  readonly q: string;
  readonly limit: number;
  readonly deadlineMs: number;
}

/** By external id, phone number, and a part of the name or the email. */
export const findByWords = async (
  db: Kysely<Tables>,
  { companyId, q, limit, deadlineMs }: WordSearch,
): Promise<readonly FoundClient[]> => {
  const lists = await Promise.all([
    findByExternalId(db, companyId, q, limit),
    findByPhone(db, companyId, q, limit),
    findByText(db, { companyId, query: fold(q), limit, deadlineMs }),
  ]);
  return [...new Map(lists.flat().map((client) => [client.client_id, client])).values()].slice(0, limit);
};

const labelled = ({ client_id, first_name, last_name, email, phone }: FoundClient) => ({
  id: client_id,
  name: `${first_name} ${last_name} · ${email || phone}`,
});

/** Accepts any number, even one that no id can have. */
const findById = async (
  db: Kysely<Tables>,
  companyId: number,
  clientId: number,
): Promise<readonly FoundClient[]> => {
  if (!Number.isSafeInteger(clientId)) return [];
  return db
    .selectFrom('clients')
    .select(foundColumns)
    .where('company_id', '=', companyId)
    .where('client_id', '=', clientId)
    .execute();
};

/** Clients whose external id starts with the query (case-sensitive), ordered by external id. */
const findByExternalId = (
  db: Kysely<Tables>,
  companyId: number,
  query: string,
  limit: number,
): Promise<FoundClient[]> => findByPrefix(db, companyId, 'external_id', query, limit);

/** Fewer digits would match too many numbers and push every other match out of the answer. */
const minPhoneDigits = 3;

/** Only what phone numbers are written with, and at least three digits (contract, "Client search"). */
const findByPhone = async (
  db: Kysely<Tables>,
  companyId: number,
  query: string,
  limit: number,
): Promise<readonly FoundClient[]> => {
  if (!/^(?:tel:)?(?:[\d\s+().\-/x#;=]|ext(?:n|ension)?|int)+$/i.test(query)) return [];
  const { all, dialled } = phoneDigits(query);
  const find = (column: 'phone_reversed' | 'phone_main_reversed', digits: string) =>
    digits.length < minPhoneDigits ? [] : findByPrefix(db, companyId, column, digits, limit);
  const lists = await Promise.all([
    find('phone_reversed', all),
    dialled === all ? [] : find('phone_reversed', dialled),
    find('phone_main_reversed', dialled),
  ]);
  return lists.flat();
};

/** Sorted by the column's index, so the query stops after `limit` rows. */
const findByPrefix = (
  db: Kysely<Tables>,
  companyId: number,
  column: 'external_id' | 'phone_reversed' | 'phone_main_reversed',
  prefix: string,
  limit: number,
): Promise<FoundClient[]> =>
  db
    .selectFrom('clients')
    .select(foundColumns)
    .where('company_id', '=', companyId)
    .where(column, 'like', `${prefix.replace(/[\\%_]/g, '\\$&')}%`)
    .orderBy(column)
    .limit(limit)
    .execute();
