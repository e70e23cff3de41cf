import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { sessionFacts } from './facts.ts';

export const getSession = (access: Access) =>
  handler(contract.getSession, async ({ companyId, user }) =>
    json(200, await sessionFacts(access, companyId, user.sessionId)),
  );
