import { notFound } from '@causeway/proto';
import type { Access } from '../context.ts';

/** @throws Problem `not_found` */
export const requireCompany = async ({ db }: Access, company_id: number): Promise<void> => {
  const company = await db
    .selectFrom('companies')
    .select('company_id')
    .where('company_id', '=', company_id)
    .executeTakeFirst();
  if (!company) throw notFound('company');
};
