import { portalContract } from '@causeway/proto';
import { json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { limitColumns } from '../limits/limits.ts';
import { keyColumns } from './key.ts';
import { portalKey } from './portal-key.ts';

export const listApiKeys = ({ db }: Access) =>
  portalHandler(portalContract.listApiKeys, async ({ companyId }) => {
    const rows = await db
      .selectFrom('api_keys')
      .select([...keyColumns, ...limitColumns])
      .where('company_id', '=', companyId)
      .orderBy('id', 'desc')
      .execute();
    return json(200, { keys: rows.map(portalKey) });
  });
