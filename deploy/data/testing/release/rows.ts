import { readFileSync } from 'node:fs';
import { readEnv } from '@causeway/runtime';
import * as real from '../../../../services/crm/store/rows.ts';

export const releases = ['knows zip', 'writes both', 'reads postal_code', 'knows postal_code'] as const;
export type Release = (typeof releases)[number];

const file = readEnv().RELEASE_FILE;
const release = (file === undefined ? 'knows zip' : readFileSync(file, 'utf8')) as Release;

type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];
type Make<Run> = (table: string, columns: readonly string[], key?: unknown, how?: unknown) => Run;
type Lock = (
  db: unknown,
  keys: unknown,
  waits: unknown,
  onRows: (rows: Rows) => void,
  onAll: unknown,
) => Promise<void>;
const make = real as unknown as {
  readonly insertRows: Make<(db: unknown, rows: Rows) => Promise<void>>;
  readonly updateRows: Make<(db: unknown, rows: Rows) => Promise<void>>;
  readonly lockRows: Make<Lock>;
};

const isRenamed = (table: string, columns: readonly string[]): boolean =>
  table === 'clients' && columns.includes('zip');
const renamed = (columns: readonly string[]): readonly string[] =>
  columns.map((column) => (column === 'zip' ? 'postal_code' : column));

const written = (table: string, columns: readonly string[]): readonly string[] => {
  if (!isRenamed(table, columns) || release === 'knows zip') return columns;
  return release === 'knows postal_code' ? renamed(columns) : [...columns, 'postal_code'];
};
/** The rows themselves, because an insert gives them their ids. */
const withBoth = (rows: Rows): Rows => rows.map((row) => Object.assign(row, { postal_code: row.zip }));

export const insertRows: typeof make.insertRows = (table, columns, id) => {
  const run = make.insertRows(table, written(table, columns), id);
  return (db, rows) => run(db, withBoth(rows));
};

export const updateRows: typeof make.updateRows = (table, columns, key) => {
  const run = make.updateRows(table, written(table, columns), key);
  return (db, rows) => run(db, withBoth(rows));
};

export const lockRows: typeof make.lockRows = (table, columns, key, how) => {
  const old = !isRenamed(table, columns) || release === 'knows zip' || release === 'writes both';
  if (old) return make.lockRows(table, columns, key, how);
  const run = make.lockRows(table, renamed(columns), key, how);
  const named = (rows: Rows): Rows => rows.map(({ postal_code, ...row }) => ({ ...row, zip: postal_code }));
  return (db, keys, waits, onRows, onAll) => run(db, keys, waits, (rows) => onRows(named(rows)), onAll);
};
