import { problem, type ResolvedSession, type ResolveSession } from '@causeway/proto';
import { each, json, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { useSession } from './use-session.ts';

/** The gateway calls at once; operations take 15 s at most. */
const proofLifeMs = 60_000;

/**
 * Resolves a token to its session. Gateways call this for every portal request that another service answers, so
 * ending a session or changing a role takes effect on the next request, on every gateway.
 */
export const resolveSession = (access: Access): LaneHandler =>
  each(async ({ body }) => {
    const { token, passive } = JSON.parse(Buffer.from(body).toString()) as ResolveSession;
    const session = await useSession(access, token, passive);
    if (!session) throw problem('signed_out');
    const { companyId, user } = session;
    const untilMs = access.now().getTime() + proofLifeMs;
    const proof = access.sessionProofs.prove({ companyId, user, untilMs });
    return json<ResolvedSession>(200, { companyId, user, proof });
  });
