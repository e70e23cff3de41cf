import { randomBytes } from 'node:crypto';
import type { OperatorOperationId } from '@causeway/proto';
import {
  type Bus,
  type Database,
  type Handler,
  type Log,
  type Metrics,
  serveOperations,
} from '@causeway/runtime';
import { createCompany, listCompanies } from './companies/index.ts';
import type { Access } from './context.ts';
import { startKeyTable } from './key-table/key-table.ts';
import { createKey, listKeys, revokeKey } from './keys/index.ts';
import { recordKeyUses } from './keys/key-uses.ts';
import { setLimits } from './limits/index.ts';
import { createPortalOwner } from './portal/index.ts';
import type { AccessTables } from './schema.ts';

export interface AccessService {
  ready(): boolean;
  /** Takes nothing more, finishes what is in flight. */
  drain(): Promise<void>;
}

/** Companies, API keys and portal users, and the key table that the gateways decide by. */
export const createAccess = async (options: AccessOptions): Promise<AccessService> => {
  const { bus, db, log, now = () => new Date(), random = randomBytes } = options;
  const table = await startKeyTable({ ...options, now });
  const uses = recordKeyUses({ bus, db, log, now });
  const access: Access = { bus, db, table, log, keyPrefix: options.keyPrefix, now, random };
  const lane = await serveOperations({ ...options, lane: 'operator', handlers: handlersOf(access) });
  return {
    ready: () => table.ready() && db.isUp(),
    drain: async () => {
      await lane.drain();
      await uses.drain();
      await table.stop();
    },
  };
};

const handlersOf = (access: Access): Readonly<Record<OperatorOperationId, Handler>> => ({
  createCompany: createCompany(access),
  listCompanies: listCompanies(access),
  createKey: createKey(access),
  listKeys: listKeys(access),
  revokeKey: revokeKey(access),
  setLimits: setLimits(access),
  createPortalOwner: createPortalOwner(access),
});

export interface AccessOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly instance: string;
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly keyPrefix: string;
  /** Copies of each NATS bucket. */
  readonly replicas: number;
  readonly checkIntervalMs?: number;
  readonly now?: () => Date;
  readonly random?: (bytes: number) => Uint8Array;
}
