import { Problem } from '@causeway/proto';
import { type Answer, behindOwnGate, each, type Handler, type LaneHandler } from '@causeway/runtime';
import type { Access } from './context.ts';
import { byToken } from './sessions/use-session.ts';

export const guardOf =
  (access: Access) =>
  ({ operation, answer }: Handler): LaneHandler => {
    if (operation.audience === 'operator') return logCalls(access, answer);
    // Its handler finds the key by the proof.
    if (operation.audience === 'key') return answer;
    if (operation.role !== null) return byToken(access, operation, answer);
    return signIns.has(operation.id) ? answer : behindOwnGate(answer);
  };

/** Known devices enter another gate than strangers. */
const signIns: ReadonlySet<string> = new Set(['signIn', 'signInWithPasskey']);

/** Logs how each call of an operator ended: they are few, and are asked about later. */
const logCalls = ({ log }: Pick<Access, 'log'>, handler: LaneHandler): LaneHandler =>
  each(async (call) => {
    const { operation, requestId } = call;
    const startedMs = performance.now();
    const ended = (outcome: object) =>
      log.info(
        { operation, requestId, ...outcome, durationMs: Math.round(performance.now() - startedMs) },
        'operator call',
      );
    try {
      const answer = await handler([call])[0]!;
      ended({ outcome: 'done', ...idsOf(answer) });
      return answer;
    } catch (error) {
      ended({ outcome: error instanceof Problem ? error.code : 'internal_error' });
      throw error;
    }
  });

/** Which records a line is about: never a name, a value or an address. */
const idsOf = ({ body }: Answer) => {
  const { company_id: companyId, id } = JSON.parse(String(body)) as { company_id?: number; id?: number };
  return { ...(companyId !== undefined && { companyId }), ...(id !== undefined && { id }) };
};
