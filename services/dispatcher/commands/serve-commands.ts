import {
  type DeliveryAction,
  type DeliveryActionAnswer,
  type DeliveryCommand,
  deliveryCommandSubject,
} from '@causeway/proto';
import {
  acrossTenants,
  type Bus,
  type Database,
  isRequest,
  type Log,
  type Metrics,
  repeat,
  transaction,
} from '@causeway/runtime';
import type { QueueKey } from '../job.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { actOnDelivery } from './act-on-delivery.ts';
import { applyChange } from './apply-change.ts';
import { nextPage } from './replay-page.ts';

/** Carries out what `webhooks` asks for. */
export interface Commands {
  /** Takes no more; resolves when the current steps have ended. */
  drain(): Promise<void>;
}

/**
 * Carries out command rows, as one of any number of dispatchers: changes of subscriptions, and replays, one page at a
 * time. A poll finds what is due; an interrupted step is rolled back and is still due. A request that names a command starts it at once, and is
 * answered when its first step is committed. Resolves when requests can arrive.
 */
export const serveCommands = async (options: CommandOptions): Promise<Commands> => {
  const { bus, db, now, waitingQuota, onQueueDue, onReset, log, metrics } = options;
  const pages = metrics?.counter(dispatcherMetrics.dispatcher_replay_pages_total).cell();
  let underWay = 0;
  let idle: (() => void) | undefined;

  const change = async (command?: ChangeCommand): Promise<number> => {
    const found = await transaction(db, async (trx) => {
      const all = acrossTenants(trx, 'a dispatcher applies a change of a subscription of any company');
      const changes = all.selectFrom('subscription_changes').selectAll().forUpdate();
      const row = await (command
        ? changes
            .where('company_id', '=', command.companyId)
            .where('subscription_id', '=', command.subscriptionId)
        : changes.orderBy('changed_utc').limit(1).skipLocked()
      ).executeTakeFirst();
      if (row) await applyChange(trx, row, now());
      return row;
    });
    if (!found) return 0;
    if (found.resets_failures === 1) onReset(found);
    onQueueDue();
    return 1;
  };

  const replayPage = async (command?: ReplayCommand): Promise<number> => {
    const found = await transaction(db, async (trx) => {
      const at = now();
      const all = acrossTenants(trx, 'a dispatcher continues a due replay of any company');
      const due = all.selectFrom('replays').selectAll().where('next_page_utc', '<=', at).forUpdate();
      const replay = await (command
        ? due.where('company_id', '=', command.companyId).where('replay_id', '=', command.replayId)
        : due.orderBy('next_page_utc').limit(1).skipLocked()
      ).executeTakeFirst();
      if (!replay) return 0;
      await nextPage(trx, replay, { now: at, waitingQuota });
      return 1;
    });
    if (pages) pages.value += found;
    if (found > 0) onQueueDue();
    return found;
  };

  /** @returns the answer: none to a command that is a row, because the poll finds what was not carried out. */
  const carryOut = async (text: string): Promise<string | undefined> => {
    try {
      const command = JSON.parse(text) as DeliveryCommand | DeliveryAction;
      if ('action' in command) {
        if (underWay > maxUnderWay) return undefined;
        const refused = await actOnDelivery(db, command, options);
        if (refused === null) onQueueDue();
        return JSON.stringify({ refused } satisfies DeliveryActionAnswer);
      }
      if (underWay <= maxUnderWay) await ('replayId' in command ? replayPage(command) : change(command));
    } catch (error) {
      log.warn({ error }, 'command failed; retried');
    }
    return undefined;
  };

  const subscription = bus.nc.subscribe(deliveryCommandSubject, {
    queue: 'dispatchers',
    callback: (error, message) => {
      if (error || !isRequest(message)) return;
      underWay++;
      void carryOut(message.string()).then((answer) => {
        message.respond(answer);
        underWay--;
        if (underWay === 0) idle?.();
      });
    },
  });
  const polling = repeat(async () => (await change()) + (await replayPage()), {
    pauseMs: pollEveryMs,
    onError: (error) => log.warn({ error }, 'commands failed; retried'),
  });
  await bus.flush();
  return {
    drain: async () => {
      subscription.unsubscribe();
      await polling.stop();
      if (underWay > 0) await new Promise<void>((resolve) => (idle = resolve));
      await bus.flush();
    },
  };
};

type ReplayCommand = Extract<DeliveryCommand, { readonly replayId: number }>;
type ChangeCommand = Extract<DeliveryCommand, { readonly subscriptionId: number }>;

const pollEveryMs = 200;
const maxUnderWay = 32;

export interface CommandOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly now: () => Date;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota: number;
  /** Called after a commit that may have made a queue due. */
  readonly onQueueDue: () => void;
  /** Called when the failures of an enabled subscription were set to zero. */
  readonly onReset: (key: QueueKey) => void;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}
