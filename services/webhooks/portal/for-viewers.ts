import { maskTargets } from '@causeway/proto';
import { each, type LaneHandler } from '@causeway/runtime';

/**
 * Takes the tokens in receivers' URLs and headers out of what viewers get (SECURITY.md). All operations of the portal
 * pass here, so none can forget it.
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
