import { companyEntryName, problem } from '@causeway/proto';
import type { Bus } from '../bus.ts';
import { followKeyTable } from '../key-table/follow.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type CallerGuard, createCallerGuard } from './guard.ts';

/** A guard with its own copy of the key table. */
export interface Callers extends CallerGuard {
  /** False until the copy is read, and while it may be out of date. */
  ready(): boolean;
  /**
   * Tells whether the company exists. Company entries are never deleted, so one in the copy exists. For any other it
   * asks the bucket's leader, because the copy may be a moment behind.
   * @throws Problem `keys_unavailable` while the copy is not reliable.
   */
  knowsCompany(companyId: number): Promise<boolean>;
  close(): void;
}

/** Starts reading the key table. Calls that arrive before it is complete wait for it. */
export const followCallers = ({ bus, log, metrics, now }: FollowCallersOptions): Callers => {
  const table = followKeyTable({ bus, log, metrics });
  bus.onReconnect(() => void table.reload('NATS is back'));
  void table.reload('start');
  return {
    ...createCallerGuard({ table, log, metrics, now }),
    ready: table.trusted,
    knowsCompany: async (companyId) => {
      if (table.company(companyId)) return true;
      if (!table.trusted()) throw problem('keys_unavailable');
      await table.fetch(companyEntryName(companyId));
      return table.company(companyId) !== undefined;
    },
    close: table.close,
  };
};

interface FollowCallersOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly now: () => Date;
}
