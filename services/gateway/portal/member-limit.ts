import { type ResolvedSession, tooManyRequests } from '@causeway/proto';
import type { Limiter } from '../limits/limiter.ts';
import { type DefaultLimits, memberLimits } from '../limits/policy.ts';

/**
 * Counts an operation of a signed-in member, exactly over all gateways, whatever the number of their sessions.
 * @throws Problem `too_many_requests`; CountError where it could not be counted.
 */
export const countMember = async (
  { limiter, limits }: MemberLimit,
  { companyId, user }: ResolvedSession,
): Promise<void> => {
  const { admitted, limit, resetSeconds } = await limiter.take(memberLimits(companyId, user.id, limits));
  if (!admitted) throw tooManyRequests(limit, Math.max(1, Math.ceil(resetSeconds - Date.now() / 1000)));
};

export interface MemberLimit {
  readonly limiter: Limiter;
  readonly limits: DefaultLimits;
}
