import { byMember, conflict, contract, notFound } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import { writeAudit } from '../write-audit.ts';
import { readReplay, replayAnswer, selectReplays } from './record.ts';

/** Cancels a replay. The dispatchers drop its waiting deliveries, chunk by chunk; the answer waits for the first one. */
export const cancelReplay = (context: WebhooksContext) =>
  handler(contract.cancelReplay, async (call) => {
    const { now, once } = context;
    const { companyId, identity } = call;
    const id = call.id('replay');
    const answer = await once.carryOut(identity, async (trx) => {
      const row = await selectReplays(trx, companyId)
        .where('replay_id', '=', id)
        .forUpdate()
        .executeTakeFirst();
      if (!row) throw notFound('replay');
      if (row.state !== 'running') throw conflict(`the replay is ${row.state} already`);
      const at = now();
      await trx
        .updateTable('replays')
        .set({ state: 'cancelled', finished_utc: at, next_page_utc: at })
        .where('company_id', '=', companyId)
        .where('replay_id', '=', id)
        .execute();
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'replay.cancelled',
        target: { kind: 'replay', id, name: row.kind },
        after: { made: row.made, total: row.total },
        at,
      });
      return json(200, replayAnswer(await readReplay(trx, companyId, id)));
    });
    await askDispatcher(context, { companyId, replayId: id });
    return answer;
  });
