import { Problem } from '@causeway/proto';
import { type Answer, each, type LaneHandler } from '@causeway/runtime';
import type { Access } from './context.ts';

/** Logs how each call of an operator ended: they are few, and are asked about later. */
export const logCalls = ({ log }: Pick<Access, 'log'>, handler: LaneHandler): LaneHandler =>
  each(async (call) => {
    const { operation, requestId } = call;
    const startedMs = performance.now();
    const ended = (outcome: object) =>
      log.info(
        { operation, requestId, ...outcome, elapsedMs: Math.round(performance.now() - startedMs) },
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
