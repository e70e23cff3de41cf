import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { CrmContext } from '../context.ts';
import { findById } from '../search/find-by-id.ts';
import { findByExternalId, findByPhone } from '../search/find-by-prefix.ts';
import { type FoundClient, findByText } from '../search/find-by-text.ts';
import { normalise } from '../search/text.ts';

/**
 * Searches leads and clients (contract, "Client search"). Matches by external id or phone number come first because
 * they are the most specific, then matches by name and email.
 */
export const searchClients = ({ db }: CrmContext) =>
  handler(contract.searchClients, async ({ companyId, query, deadlineMs }) => {
    const { q, limit } = query;
    const search = async (): Promise<readonly (readonly FoundClient[])[]> => {
      if (q === '') return [];
      if (/^\d+$/.test(q)) return [await findById(db, companyId, Number(q))];
      return Promise.all([
        findByExternalId(db, companyId, q, limit),
        findByPhone(db, companyId, q, limit),
        findByText(db, { companyId, query: normalise(q), limit, deadlineMs }),
      ]);
    };
    const found = new Map((await search()).flat().map((client) => [client.client_id, client]));
    const clients = [...found.values()].slice(0, limit).map(labelled);
    return json(200, { clients, count: clients.length });
  });

const labelled = ({ client_id, first_name, last_name, email, phone }: FoundClient) => ({
  id: client_id,
  name: `${first_name} ${last_name} · ${email || phone}`,
});
