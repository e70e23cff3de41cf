import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { findPasswordReset } from '../passwords/password-reset.ts';

export const getPasswordReset = (access: Access) =>
  handler(contract.getPasswordReset, async ({ body }) => {
    const row = await findPasswordReset(access, body.token);
    return json(200, {
      email: row.email,
      companyName: row.company_name,
      expiresUtc: row.expires_utc.toISOString(),
    });
  });
