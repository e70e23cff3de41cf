import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readUndelivered } from './undelivered.ts';

export const listFailureCauses = ({ db }: WebhooksContext) =>
  handler(contract.listFailureCauses, async ({ companyId }) => {
    const groups = await readUndelivered(db, companyId, { byCause: true });
    const byCause = Map.groupBy(
      groups,
      // What was never attempted has its state for a cause.
      (one) => [one.subscriptionId, one.errorClass ?? one.state, one.statusCode].join(' '),
    );
    const causes = [...byCause.values()]
      .map((ofCause) => ({
        subscriptionId: ofCause[0]!.subscriptionId,
        errorClass: ofCause[0]!.errorClass,
        statusCode: ofCause[0]!.statusCode,
        state: ofCause[0]!.state,
        count: ofCause.reduce((sum, one) => sum + one.count, 0),
        isMore: ofCause.some(({ isMore }) => isMore),
        firstSeenUtc: new Date(Math.min(...ofCause.map((one) => one.oldestUtc.getTime()))),
        lastSeenUtc: new Date(Math.max(...ofCause.map((one) => one.newestUtc.getTime()))),
      }))
      .sort((a, b) => b.lastSeenUtc.getTime() - a.lastSeenUtc.getTime());
    return json(200, { causes });
  });
