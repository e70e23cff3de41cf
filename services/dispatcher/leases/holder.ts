import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, later, transaction } from '@causeway/runtime';
import type { Context } from '../context.ts';
import type { TakenEvent } from '../delivery.ts';
import { dispatcherMetrics } from '../metrics.ts';
import { createSignal } from '../signal.ts';
import type { Tables } from '../tables.ts';
import { freeLeases } from './free-leases.ts';

export interface Holder {
  /** Leases name this ID. A process that was given up continues under another. */
  id(): number;
  isSure(): boolean;
  /** The earliest end of a lease of an event that another living dispatcher has under way without rows. */
  othersOpenUntil(): Date | undefined;
  /** Resolves after a second at the latest. */
  nextBeat(): Promise<void>;
  readonly onSure: (listener: () => void) => void;
  /** Sent when deliveries are due that a silent dispatcher had leased. */
  readonly onFreed: (listener: () => void) => void;
  stop(): Promise<void>;
}

/**
 * Beats in the database, where the leases are, and gives silent dispatchers up. A dispatcher is sure of its
 * leases for a second from the beginning of its last beat, and the others give it up later than that. So a
 * dispatcher that was frozen or cut off starts no attempt until it has beaten again, and then knows whether
 * it was given up. Resolves after the first beat.
 */
export const startHolder = async (options: HolderOptions): Promise<Holder> => {
  const { beatDb, db, instance, openEvents, now, nowMs, log, metrics } = options;
  const [sure, freedAny] = [createSignal(), createSignal()];
  const silence = countSilence();
  const givenUp = metrics.counter(dispatcherMetrics.dispatcher_given_up_total).cell();
  const freed = metrics.counter(dispatcherMetrics.dispatcher_leases_freed_total).cell();
  let id = await register(beatDb, instance);
  let sureUntilMs = nowMs() + sureForMs;
  let othersOpenUntil: Date | undefined;
  let waiting: (() => void)[] = [];
  let freeing: Promise<void> | undefined;
  const stopping = new AbortController();

  const wakeWaiting = (): void => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  const beat = async (): Promise<void> => {
    const startedMs = nowMs();
    const openUntil = earliest([...openEvents].map(({ leaseMs }) => leaseMs));
    const { isGivenUp, all } = await beatAndRead(beatDb, id, openUntil);
    if (isGivenUp) {
      log.warn({ dispatcherId: id }, 'given up by the other dispatchers; continuing without leases');
      id = await register(beatDb, instance);
    }
    const wasSure = startedMs < sureUntilMs;
    sureUntilMs = startedMs + sureForMs;
    if (!wasSure) sure.send();
    wakeWaiting();
    await watchOthers(all.filter(({ dispatcher_id }) => dispatcher_id !== id));
  };
  const watchOthers = async (others: readonly KnownDispatcher[]): Promise<void> => {
    const live = others.filter((one) => !one.given_up_utc);
    const silent = silence.read(live);
    for (const other of silent)
      if (await giveUp(beatDb, other, now())) {
        givenUp.value++;
        log.warn(
          { dispatcherId: other.dispatcher_id, instance: other.instance },
          'silent dispatcher given up',
        );
      }
    othersOpenUntil = earliest(
      live.flatMap((one) => (silent.includes(one) ? [] : (one.open_until_utc?.getTime() ?? []))),
    );
    const ids = others.filter((one) => one.given_up_utc).map((one) => one.dispatcher_id);
    if (ids.length > 0) freeing ??= free(ids).finally(() => (freeing = undefined));
  };
  const free = async (ids: readonly number[]): Promise<void> => {
    try {
      for (const dispatcher of ids) {
        const { freed: count, left } = await freeLeases(db, dispatcher, now());
        freed.value += count;
        if (count > 0) {
          log.info({ dispatcherId: dispatcher, deliveries: count }, 'leases freed');
          freedAny.send();
        } else if (left === 0) await forget(db, dispatcher);
      }
    } catch (error) {
      log.warn({ error }, 'leases could not be freed; retried');
    }
  };

  const running = (async () => {
    while (!stopping.signal.aborted) {
      const pause = sleep(beatEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
      try {
        await beat();
      } catch (error) {
        silence.reset();
        log.debug({ error }, 'beat failed');
      }
      await pause;
    }
  })();

  return {
    id: () => id,
    onSure: sure.on,
    onFreed: freedAny.on,
    isSure: () => nowMs() < sureUntilMs,
    othersOpenUntil: () => othersOpenUntil,
    nextBeat: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        setTimeout(resolve, 1_000).unref();
      }),
    stop: async () => {
      stopping.abort();
      await running;
      await freeing;
      wakeWaiting();
      await forget(beatDb, id).catch(() => {});
    },
  };
};

/** See `silentReads`. Long enough that a slow commit stops nothing. */
export const sureForMs = 1_000;

interface HolderOptions extends Pick<Context, 'db' | 'now' | 'nowMs' | 'log' | 'metrics'> {
  /** A pool of its own, with one connection: a beat must not wait behind other queries. */
  readonly beatDb: Database<Tables>;
  readonly instance: string;
  readonly openEvents: ReadonlySet<TakenEvent>;
}

interface SilentDispatchers {
  /** @returns the dispatchers that were silent for long enough to be given up. */
  read(found: readonly KnownDispatcher[]): readonly KnownDispatcher[];
  /** Call it when a read failed: while the database is away, nobody can beat. */
  reset(): void;
}

/**
 * Counting reads needs no clock that two machines share, and a reader that stood still judges by no more than
 * it has read. Reads are at least `beatEveryMs` apart.
 */
export const countSilence = (): SilentDispatchers => {
  let silent = new Map<number, { readonly beats: number; readonly reads: number }>();
  return {
    read: (found) => {
      silent = new Map(
        found.map(({ dispatcher_id, beats }) => {
          const before = silent.get(dispatcher_id);
          return [dispatcher_id, { beats, reads: before?.beats === beats ? before.reads + 1 : 0 }];
        }),
      );
      return found.filter((one) => silent.get(one.dispatcher_id)!.reads >= silentReads);
    },
    reset: () => silent.clear(),
  };
};

export const beatEveryMs = 250;
/** At least 1.25 s in all: longer than `sureForMs`, after which a silent dispatcher starts nothing. */
export const silentReads = 5;

export interface KnownDispatcher {
  readonly dispatcher_id: number;
  readonly instance: string;
  readonly beats: number;
  readonly given_up_utc: Date | null;
  readonly open_until_utc: Date | null;
}

const register = async (db: Database<Tables>, instance: string): Promise<number> => {
  const { insertId } = await db.insertInto('dispatchers').values({ instance }).executeTakeFirstOrThrow();
  return Number(insertId);
};

/** In one round trip, because it is most of what a dispatcher at rest does. */
const beatAndRead = async (
  db: Database<Tables>,
  id: number,
  openUntil: Date | undefined,
): Promise<{ readonly isGivenUp: boolean; readonly all: readonly KnownDispatcher[] }> => {
  let isGivenUp = false;
  let all: readonly KnownDispatcher[] = [];
  await transaction(
    db,
    async (trx) => {
      const beat = trx
        .updateTable('dispatchers')
        .set((eb) => ({ beats: eb('beats', '+', 1), open_until_utc: openUntil ?? null }))
        .where('dispatcher_id', '=', id)
        .where('given_up_utc', 'is', null);
      const dispatchers = trx
        .selectFrom('dispatchers')
        .select(['dispatcher_id', 'instance', 'beats', 'given_up_utc', 'open_until_utc']);
      await later(trx, beat.compile(), ({ numAffectedRows }) => {
        isGivenUp = numAffectedRows === 0n;
      });
      await later(trx, dispatchers.compile(), ({ rows }) => {
        all = rows;
      });
    },
    { attempts: 1 },
  );
  return { isGivenUp, all };
};

/** The dispatcher's leases are void from the commit on. @returns false if it has beaten since. */
const giveUp = async (
  db: Database<Tables>,
  { dispatcher_id, beats }: KnownDispatcher,
  now: Date,
): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('dispatchers')
    .set({ given_up_utc: now })
    .where('dispatcher_id', '=', dispatcher_id)
    .where('beats', '=', beats)
    .where('given_up_utc', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
};

const forget = async (db: Database<Tables>, id: number): Promise<void> => {
  await db.deleteFrom('dispatchers').where('dispatcher_id', '=', id).execute();
};

const earliest = (ends: readonly number[]): Date | undefined =>
  ends.length === 0 ? undefined : new Date(ends.reduce((least, end) => Math.min(least, end)));
