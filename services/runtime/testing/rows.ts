import type { Kysely, Selectable } from 'kysely';

/** Rows of one company, whole. */
export const rowsOf = async <Tables, Table extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: Table,
  companyId: number,
  more: Partial<Selectable<Tables[Table]>> = {},
): Promise<Selectable<Tables[Table]>[]> => {
  // biome-ignore lint/suspicious/noExplicitAny: kysely knows no columns of a table that is a parameter.
  const from: Kysely<any> = db;
  const rows = await from
    .selectFrom(table)
    .selectAll()
    .where((eb) => eb.and({ company_id: companyId, ...more }))
    .execute();
  return rows as Selectable<Tables[Table]>[];
};

/** The only one of them, or the first. */
export const rowOf = async <Tables, Table extends keyof Tables & string>(
  ...asked: Parameters<typeof rowsOf<Tables, Table>>
): Promise<Selectable<Tables[Table]>> => {
  const [row] = await rowsOf(...asked);
  if (!row) throw new Error('There is no such row.');
  return row;
};
