import { contract, type KnowsMember, parseBody } from '@causeway/proto';
import { each, json, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { membershipsOf } from './memberships.ts';

/**
 * Tells a gateway of several cells whether a sign-in may succeed here. Otherwise every sign-in would have to be tried
 * in every cell, and count as a failure in all but one.
 */
export const knowsMember = (access: Access): LaneHandler =>
  each(async ({ body }) => {
    const { email } = parseBody(contract.signIn, body);
    const memberships = await membershipsOf(access, email);
    return json<KnowsMember>(200, { known: memberships.length > 0 });
  });
