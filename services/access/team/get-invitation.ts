import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { findInvitation } from './invitation.ts';

export const getInvitation = (access: Access) =>
  handler(contract.getInvitation, async ({ body }) => {
    const row = await findInvitation(access, body.token);
    return json(200, {
      email: row.email,
      role: row.role,
      companyName: row.company_name,
      invitedBy: row.invited_by_name,
      expiresUtc: row.expires_utc.toISOString(),
    });
  });
