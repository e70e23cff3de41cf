import { type KeyUse, keyUsedSubject } from '@causeway/proto';
import type { Bus, Database, Log } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';

const minuteMs = 60_000;
/** Reports of several gateways arrive close together; they become one batch. */
const gatherMs = 1000;
/** More rows in one statement hold their locks longer without saving much. */
const maxRowsPerUpdate = 500;

/** Keeps `last_used_utc` from the gateways' reports. */
export interface KeyUses {
  /** Takes no more reports and writes those it has. */
  drain(): Promise<void>;
}

/**
 * Takes the reports that gateways publish, as one replica of a queue group, and writes them in batches.
 * The time only moves forward, whatever order reports come in and whoever writes them; a clock that is
 * ahead is cut to the present minute, or it would hold the time still until the present catches up.
 * A revoked key takes only what was used before its end: reports come seconds later, and the last use of a
 * key that was revoked for cause is what somebody will ask for.
 */
export const recordKeyUses = ({ bus, db, log, now }: KeyUsesOptions): KeyUses => {
  let gathered = new Map<number, KeyUse>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const take = (uses: readonly KeyUse[]): void => {
    const thisMinute = Math.floor(now().getTime() / minuteMs);
    for (const [keyId, companyId, reported] of uses) {
      const minute = Math.min(reported, thisMinute);
      const known = gathered.get(keyId);
      if (known === undefined || known[2] < minute) gathered.set(keyId, [keyId, companyId, minute]);
    }
    if (gathered.size > 0) timer ??= setTimeout(() => void flush(), gatherMs);
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const uses = gathered;
    gathered = new Map();
    writing = writing.then(async () => {
      try {
        await writeUses(db, [...uses.values()]);
      } catch (error) {
        log.warn({ error, keys: uses.size }, 'last uses could not be written; trying again');
        take([...uses.values()]);
      }
    });
    return writing;
  };

  const subscription = bus.nc.subscribe(keyUsedSubject, {
    queue: 'access',
    callback: (error, message) => {
      if (error) return;
      try {
        take(readReport(message.data));
      } catch (cause) {
        log.error({ error: cause }, 'report of key uses cannot be read');
      }
    },
  });

  return {
    drain: async () => {
      subscription.unsubscribe();
      await flush();
      clearTimeout(timer);
    },
  };
};

export interface KeyUsesOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly now: () => Date;
}

/** @throws on anything that is not a list of uses: one wrong value would spoil the statement for all. */
const readReport = (data: Uint8Array): readonly KeyUse[] => {
  const uses = JSON.parse(Buffer.from(data).toString()) as KeyUse[];
  const isUse = (use: unknown) => Array.isArray(use) && use.length === 3 && use.every(isPositive);
  if (!Array.isArray(uses) || !uses.every(isUse)) throw new Error('not a list of [key, company, minute]');
  return uses;
};

const isPositive = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

/** One statement for each minute and 500 keys, in the order of the key, so that two writers queue up. */
const writeUses = async (db: Database<AccessTables>, uses: readonly KeyUse[]): Promise<void> => {
  for (const [minute, ofMinute] of Map.groupBy(uses, (use) => use[2])) {
    const used = new Date(minute * minuteMs);
    const ordered = ofMinute.toSorted((a, b) => a[1] - b[1] || a[0] - b[0]);
    for (let at = 0; at < ordered.length; at += maxRowsPerUpdate) {
      const keys = ordered.slice(at, at + maxRowsPerUpdate);
      await db
        .updateTable('api_keys')
        .set({ last_used_utc: used })
        .where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple('company_id', 'id'),
            'in',
            keys.map(([id, companyId]) => tuple(companyId, id)),
          ),
        )
        .where((eb) => eb.or([eb('revoked_utc', 'is', null), eb('revoked_utc', '>=', used)]))
        .where((eb) => eb.or([eb('last_used_utc', 'is', null), eb('last_used_utc', '<', used)]))
        .execute();
    }
  }
};
