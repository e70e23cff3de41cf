import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Keyspace {
  readonly sharded: boolean;
  readonly vindexes?: Readonly<Record<string, Vindex>>;
  readonly tables: Readonly<Record<string, Table>>;
}

interface Vindex {
  readonly type: string;
  /** Of a lookup vindex: its table as `keyspace.table`, and the table's columns. */
  readonly params?: { readonly table: string; readonly from: string; readonly to: string };
  readonly owner?: string;
}

export interface Table {
  readonly type?: 'reference' | 'sequence';
  readonly source?: string;
  readonly columnVindexes?: readonly { readonly column: string; readonly name: string }[];
  readonly autoIncrement?: { readonly column: string; readonly sequence: string };
}

export const keyspaceNames = ['directory', 'causeway'] as const;
export type KeyspaceName = (typeof keyspaceNames)[number];

export const readKeyspace = (name: KeyspaceName): Keyspace =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8'));

export interface Lookup {
  readonly name: string;
  readonly table: string;
  readonly from: string;
  readonly to: string;
  readonly owner: string;
  readonly unique: boolean;
}

export const lookupsOf = ({ vindexes = {} }: Keyspace): readonly Lookup[] =>
  Object.entries(vindexes).flatMap(([name, { type, params, owner }]) =>
    params && owner
      ? [
          {
            ...params,
            name,
            table: params.table.replace(/^directory\./, ''),
            owner,
            unique: type === 'consistent_lookup_unique',
          },
        ]
      : [],
  );
