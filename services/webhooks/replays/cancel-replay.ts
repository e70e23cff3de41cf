import { byMember, conflict, contract, notFound } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { writeAudit } from '../write-audit.ts';
import { dropWaiting } from './page.ts';
import { readReplay, replayAnswer, selectReplays } from './record.ts';

/** Cancels a replay and drops its waiting deliveries: a first chunk at once; the replayer drops the rest. */
export const cancelReplay = ({ db, now }: WebhooksContext) =>
  handler(contract.cancelReplay, async (call) => {
    const { companyId } = call;
    const id = call.id('replay');
    const replay = await transaction(db, async (trx) => {
      const row = await selectReplays(trx, companyId)
        .where('replay_id', '=', id)
        .forUpdate()
        .executeTakeFirst();
      if (!row) throw notFound('replay');
      if (row.state !== 'running') throw conflict(`the replay is ${row.state} already`);
      const at = now();
      const rest = await dropWaiting(trx, row, at);
      await trx
        .updateTable('replays')
        .set({ state: 'cancelled', finished_utc: at, next_page_utc: rest ? at : null })
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
      return readReplay(trx, companyId, id);
    });
    return json(200, replayAnswer(replay));
  });
