import { notFound } from '@causeway/proto';
import { acrossTenants } from '@causeway/runtime';
import type { Access } from '../context.ts';

/** The company of a key that an operator names by id alone. @throws Problem `not_found` */
export const companyOfKey = async ({ db }: Access, id: number): Promise<number> => {
  const key = await acrossTenants(db, 'an operator names a key by its id alone')
    .selectFrom('api_keys')
    .select('company_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!key) throw notFound('key');
  return key.company_id;
};
