import { Problem, problem } from '@causeway/proto';
import type { Answer } from '../lanes/call.ts';
import type { Call, LaneHandler } from '../lanes/server.ts';
import type { Metrics } from '../metrics.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import { identify } from './identity.ts';
import { isReplay } from './ledger.ts';
import type { Once } from './once.ts';

/**
 * Makes handlers of which each call is carried out once in this process: a call that is sent again while it is carried
 * out gets the answer of its first sending. A client's request with an `Idempotency-Key` that another request holds is
 * refused. Other processes are held off by the rows of the ledger.
 *
 * A call that is sent again and refused may have been carried out while it was checked: a subscription that is to be
 * deleted is not there any more. So its row is looked for once more.
 */
export const createCallSharing = (
  { find }: Pick<Once<unknown>, 'find'>,
  metrics?: Metrics,
): ((handler: LaneHandler) => LaneHandler) => {
  const underWay = new Map<string, Promise<Answer>>();
  const replays = metrics?.counter(runtimeMetrics.idempotency_replays_total).cell();

  const share = (call: Call, carryOut: () => Promise<Answer>): Promise<Answer> => {
    const { tenant, callId, idempotencyKey } = call;
    if (callId === undefined) return carryOut();
    const name = `${tenant}:${callId}`;
    const first = underWay.get(name);
    if (first) return first;
    const key = idempotencyKey === undefined ? undefined : `${tenant}:key:${idempotencyKey}`;
    if (key !== undefined && underWay.has(key)) return Promise.reject(problem('idempotency_in_progress'));
    const answer = carryOut()
      .catch(async (error: unknown) => {
        const earlier = call.again && error instanceof Problem ? await find(identify(call)) : undefined;
        if (earlier) return earlier;
        throw error;
      })
      .then((given) => {
        if (replays && !call.again && isReplay(given)) replays.value++;
        return given;
      })
      .finally(() => {
        underWay.delete(name);
        if (key !== undefined) underWay.delete(key);
      });
    underWay.set(name, answer);
    if (key !== undefined) underWay.set(key, answer);
    return answer;
  };

  return (handler) => (calls) => {
    // The handler gets all calls that it must carry out in one batch.
    const fresh: Call[] = [];
    const answers = Promise.withResolvers<readonly Promise<Answer>[]>();
    const shared = calls.map((call) =>
      share(call, async () => {
        const at = fresh.push(call) - 1;
        return (await answers.promise)[at] ?? Promise.reject(new Error(`no promise for call ${at}`));
      }),
    );
    if (fresh.length === 0) return shared;
    try {
      answers.resolve(handler(fresh));
    } catch (error) {
      answers.reject(error);
    }
    return shared;
  };
};
