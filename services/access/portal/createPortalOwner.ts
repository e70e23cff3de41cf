import { invalidField, operatorContract, parseBody } from '@causeway/proto';
import { duplicateKey, each, json } from '@causeway/runtime';
import { requireCompany } from '../companies/require-company.ts';
import type { Access } from '../context.ts';
import { hashPassword } from './password.ts';

export const createPortalOwner = (access: Access) =>
  each(async (call) => {
    const { db, now } = access;
    const { company_id, email, password } = parseBody(operatorContract.createPortalOwner, call.body);
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
      return json(201, { id: Number(insertId), company_id, email });
    } catch (error) {
      if (duplicateKey(error) === 'portal_users_email')
        throw invalidField('email', 'email is already in use');
      throw error;
    }
  });
