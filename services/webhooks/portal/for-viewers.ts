import { maskTargets } from '@causeway/proto';
import { each, type LaneHandler } from '@causeway/runtime';

/**
 * Masks the tokens in receivers' URLs and headers in answers to viewers (SECURITY.md). It wraps all operations of the
 * portal, so none can omit it.
 */
export const forViewers = (handler: LaneHandler): LaneHandler =>
  each(async (call) => {
    const [pending] = handler([call]);
    const answer = await pending!;
    if (call.actor?.user?.role !== 'viewer' || answer.body === null) return answer;
    const shown = maskTargets(
      JSON.parse(typeof answer.body === 'string' ? answer.body : Buffer.from(answer.body).toString()),
    );
    return { ...answer, body: JSON.stringify(shown) };
  });
