import { invalidField } from '@causeway/proto';
import { duplicateKey } from '@causeway/runtime';
import { requireCompany } from '../companies/require-company.ts';
import type { Access } from '../context.ts';
import { operatorHandler } from '../operator-handler.ts';
import { hashPassword } from './password.ts';

export const createPortalOwner = (access: Access) =>
  operatorHandler(access, 'createPortalOwner', async ({ company_id, email, password }) => {
    const { db, now } = access;
    await requireCompany(access, company_id);
    const owner = {
      company_id,
      email,
      password_hash: await hashPassword(password),
      role: 'owner',
      created_utc: now(),
    } as const;
    try {
      const { insertId } = await db.insertInto('portal_users').values(owner).executeTakeFirstOrThrow();
      return { id: Number(insertId), company_id, email };
    } catch (error) {
      if (duplicateKey(error) === 'portal_users_email')
        throw invalidField('email', 'email is already in use');
      throw error;
    }
  });
