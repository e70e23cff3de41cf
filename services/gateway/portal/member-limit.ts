import { tooManyRequests } from '@causeway/proto';
import type { Gateway } from '../gateway.ts';
import { memberLimits } from '../limits/policy.ts';
import type { KnownSession } from './sessions.ts';

/**
 * Counts an operation of a signed-in member exactly, over all gateways and all of the member's sessions.
 * @throws Problem `too_many_requests`; CountError if it could not be counted.
 */
export const countMember = async ({ limiter, limits }: Gateway, { user }: KnownSession): Promise<void> => {
  const { admitted, limit, resetSeconds } = await limiter.take(memberLimits(user.id, limits));
  if (!admitted) throw tooManyRequests(limit, Math.max(1, Math.ceil(resetSeconds - Date.now() / 1000)));
};
