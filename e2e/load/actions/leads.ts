import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import type { World } from '../gateway/world.ts';

const leadNew = 1;
const rowsPerInsert = 1000;
/** The load generator stops without waiting for its last answers. */
const underWayMs = 500;

/** The leads that the bench updates, and queries on the state of the database. */
export interface Leads {
  /** Waits until everything that was written is published and indexed. */
  settle(): Promise<void>;
  /** Leads created since the last call, each with its event. @throws if the numbers of leads and events differ. */
  made(): Promise<number>;
  close(): Promise<void>;
}

/** Creates a lead for each key and writes `<key> <lead id>` lines to `file`, in the order of the keys. */
export const makeLeads = async ({ data, mysqlUrl }: World, file: string): Promise<Leads> => {
  const db = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  const lines: string[] = [];
  for (let at = 0; at < data.keys.length; at += rowsPerInsert) {
    const keys = data.keys.slice(at, at + rowsPerInsert);
    const [{ insertId }] = await db.query<ResultSetHeader>(
      'INSERT INTO clients (company_id, status_id, first_name, last_name, email) VALUES ?',
      [keys.map((key) => [Number(key.split('_')[1]), leadNew, 'Ada', 'Lovelace', 'ada@example.com'])],
    );
    lines.push(...keys.map((key, row) => `${key} ${insertId + row}`));
  }
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  let before = await countBoth(db);
  return {
    settle: async () => {
      while ((await count(db, waiting)) > 0) await sleep(100);
    },
    made: async () => {
      await sleep(underWayMs);
      const now = await countBoth(db);
      const leads = now.leads - before.leads;
      const events = now.events - before.events;
      if (events !== leads) throw new Error(`${leads} leads were created, and ${events} events`);
      before = now;
      return leads;
    },
    close: () => db.end(),
  };
};

/** Unpublished events, plus companies with enough pending leads for the indexer to index them. */
const waiting = `SELECT (SELECT COUNT(*) FROM event_outbox) + (SELECT COUNT(*) FROM (
    SELECT company_id FROM client_search_pending GROUP BY company_id HAVING COUNT(*) >= 64) AS busy) AS n`;

/** One statement gives both counts at the same moment: requests may still be in flight. */
const countBoth = async (db: Connection): Promise<{ leads: number; events: number }> => {
  const [rows] = await db.query<RowDataPacket[]>(
    'SELECT (SELECT COUNT(*) FROM clients) AS leads, (SELECT COUNT(*) FROM events) AS events',
  );
  return { leads: Number(rows[0]?.leads), events: Number(rows[0]?.events) };
};

const count = async (db: Connection, sql: string): Promise<number> => {
  const [rows] = await db.query<RowDataPacket[]>(sql);
  return Number(rows[0]?.n);
};
