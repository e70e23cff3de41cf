import { conflict, portalContract } from '@causeway/proto';
import { auditSource, json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { makeKey } from './make-key.ts';
import { portalKey } from './portal-key.ts';

/** Keys that work, of one company. Every gateway keeps all keys in memory. */
const maxActiveKeys = 500;

export const createApiKey = (access: Access) =>
  portalHandler(portalContract.createApiKey, async (call) => {
    const { companyId, body } = call;
    const { active } = await access.db
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('active'))
      .where('company_id', '=', companyId)
      .where('is_active', '=', 1)
      .executeTakeFirstOrThrow();
    if (Number(active) >= maxActiveKeys)
      throw conflict(`a company has at most ${maxActiveKeys} keys; revoke one that is not needed`);
    const { row, value } = await makeKey(access, { companyId, ...body, by: auditSource(call) });
    return json(201, { ...portalKey(row), value });
  });
