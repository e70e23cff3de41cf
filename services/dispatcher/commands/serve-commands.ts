import type { ReplayRow } from '@causeway/deliveries';
import {
  type DeliveryAction,
  type DeliveryActionAnswer,
  type DeliveryCommand,
  deliveryCommandSubject,
} from '@causeway/proto';
import {
  acrossTenants,
  type Repeated,
  repeat,
  type ServedRequests,
  serveRequests,
  transaction,
} from '@causeway/runtime';
import type { Context } from '../context.ts';
import type { QueueKey } from '../delivery.ts';
import type { SharedHealth } from '../health.ts';
import { selectChange } from '../queue-rows.ts';
import { createShares } from '../scheduling/shares.ts';
import { candidates, takeFirst } from '../store.ts';
import { actOnDelivery } from './act-on-delivery.ts';
import { applyChange } from './apply-change.ts';
import { nextPage } from './replay-page.ts';

/**
 * Carries out changes of subscriptions, and replays page by page, as one of any number of dispatchers. A
 * request that names a command starts it at once, and is answered when its first step is committed. A poll
 * finds what is due; an interrupted step is rolled back and is still due. Resolves when requests can arrive.
 */
export const serveCommands = async (options: CommandOptions): Promise<ServedRequests> => {
  const { bus, db, now, waitingQuota, sharedHealth, poller, log } = options;
  const places = createShares(maxInFlight);

  const change = async (key: QueueKey, waits: boolean): Promise<1 | undefined> => {
    const found = await transaction(db, async (trx) => {
      const locked = selectChange(trx, key).forUpdate();
      const row = await (waits ? locked : locked.skipLocked()).executeTakeFirst();
      if (row) await applyChange(trx, row, now());
      return row;
    });
    if (!found) return undefined;
    if (found.resets_failures === 1) sharedHealth.restarted(found);
    poller.wake();
    return 1;
  };

  const replayPage = async (key: ReplayKey, waits: boolean): Promise<1 | undefined> => {
    const found = await transaction(db, async (trx) => {
      const at = now();
      const locked = trx
        .selectFrom('replays')
        .selectAll()
        .where('company_id', '=', key.company_id)
        .where('replay_id', '=', key.replay_id)
        .where('next_page_utc', '<=', at)
        .forUpdate();
      const replay = await (waits ? locked : locked.skipLocked()).executeTakeFirst();
      if (!replay) return undefined;
      await nextPage(trx, replay, { now: at, waitingQuota });
      return 1;
    });
    if (!found) return undefined;
    poller.wake();
    return found;
  };

  const changeOfAny = async (): Promise<number> => {
    const all = acrossTenants(db, 'a dispatcher applies a change of a subscription of any company');
    const waiting = await all
      .selectFrom('subscription_changes')
      .select(['company_id', 'subscription_id'])
      .orderBy('changed_utc')
      .limit(candidates)
      .execute();
    return (await takeFirst(waiting, (key) => change(key, false))) ?? 0;
  };

  const replayOfAny = async (): Promise<number> => {
    const all = acrossTenants(db, 'a dispatcher continues a due replay of any company');
    const due = await all
      .selectFrom('replays')
      .select(['company_id', 'replay_id'])
      .where('next_page_utc', '<=', now())
      .orderBy('next_page_utc')
      .limit(candidates)
      .execute();
    return (await takeFirst(due, (key) => replayPage(key, false))) ?? 0;
  };

  /** A row gets no answer, because the poll finds what was not carried out. */
  const carryOut = async (command: DeliveryCommand | DeliveryAction): Promise<string | undefined> => {
    if ('action' in command) {
      const refused = await actOnDelivery(db, command, options);
      if (refused === null) poller.wake();
      return JSON.stringify({ refused } satisfies DeliveryActionAnswer);
    }
    const { companyId: company_id } = command;
    await ('replayId' in command
      ? replayPage({ company_id, replay_id: command.replayId }, true)
      : change({ company_id, subscription_id: command.subscriptionId }, true));
    return undefined;
  };
  /** Companies share the places: what waits for a lock of one delays no other. */
  const inPlace = async (text: string): Promise<string | undefined> => {
    try {
      const command = JSON.parse(text) as DeliveryCommand | DeliveryAction;
      if (!places.mayTake(command.companyId)) return undefined;
      places.take(command.companyId);
      return await carryOut(command).finally(() => places.giveBack(command.companyId));
    } catch (error) {
      log.warn({ error }, 'command failed; retried');
      return undefined;
    }
  };

  const served = await serveRequests(bus, deliveryCommandSubject, 'dispatchers', inPlace);
  const polling = repeat(async () => (await changeOfAny()) + (await replayOfAny()), {
    pauseMs: pollEveryMs,
    onError: (error) => log.warn({ error }, 'commands failed; retried'),
  });
  return {
    stop: async () => {
      await Promise.all([served.stop(), polling.stop()]);
    },
  };
};

type ReplayKey = Pick<ReplayRow, 'company_id' | 'replay_id'>;

/** Finds commands whose message was lost. */
const pollEveryMs = 1_000;
const maxInFlight = 32;

interface CommandOptions extends Pick<Context, 'bus' | 'db' | 'now' | 'waitingQuota' | 'log' | 'metrics'> {
  readonly poller: Pick<Repeated, 'wake'>;
  readonly sharedHealth: Pick<SharedHealth, 'restarted'>;
}
