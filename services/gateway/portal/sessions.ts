import { hash } from 'node:crypto';
import {
  problem,
  type ResolvedSession,
  type ResolveSession,
  resolveSessionOperation,
  type ServiceName,
} from '@causeway/proto';
import type { LaneClient } from '@causeway/runtime';

/** Only `access` knows whether a session is still valid, so a gateway cannot be out of date. */
export interface Sessions {
  /** @returns null if the token has no session. @throws LaneError */
  resolve(token: string, trace: Trace, passive: boolean): Promise<ResolvedSession | null>;
  /**
   * As `access` last answered. A token never changes its member, so this suffices to count the request and to
   * ask `access`, which looks the token up itself.
   */
  known(token: string): KnownSession | undefined;
  forget(token: string): void;
}

export type KnownSession = Omit<ResolvedSession, 'proof'>;

interface Trace {
  readonly requestId: string;
  readonly traceparent: string;
}

export const openSessions = (lanes: Readonly<Record<ServiceName, LaneClient>>): Sessions => {
  /** By token hash, so that a gateway's memory opens no session. The last one resolved is at the end. */
  const resolved = new Map<string, KnownSession>();

  const remember = (token: string, { companyId, user }: ResolvedSession): void => {
    const name = nameOf(token);
    resolved.delete(name);
    resolved.set(name, { companyId, user });
    if (resolved.size > maxKnown) resolved.delete(resolved.keys().next().value!);
  };

  return {
    resolve: async (token, { requestId, traceparent }, passive) => {
      const question: ResolveSession = { token, passive };
      const answer = await lanes.access.request({
        operation: resolveSessionOperation,
        tenant: 0,
        caller: 0,
        requestId,
        traceparent,
        budgetMs: resolveBudgetMs,
        repeatable: true,
        params: [],
        query: '',
        body: Buffer.from(JSON.stringify(question)),
      });
      if (answer.status === 200) {
        const session = JSON.parse(answer.body.toString()) as ResolvedSession;
        remember(token, session);
        return session;
      }
      if (answer.status === 401) {
        resolved.delete(nameOf(token));
        return null;
      }
      throw problem(
        answer.status === 504 ? 'timeout' : answer.status === 503 ? 'service_unavailable' : 'internal_error',
      );
    },
    known: (token) => resolved.get(nameOf(token)),
    forget: (token) => {
      resolved.delete(nameOf(token));
    },
  };
};

const nameOf = (token: string): string => hash('sha256', token, 'base64url');
const resolveBudgetMs = 5000;
/** About 300 bytes each. An evicted session costs its next request one more lookup. */
const maxKnown = 10_000;
