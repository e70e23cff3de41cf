import type { DatabaseOptions } from '../database/connect.ts';
import type { Database } from '../database/handle.ts';
import { keyspaceIdOf } from '../database/shards.ts';
import { type TestDatabase, testDatabase } from './database.ts';

/** Two databases that are the shards of a third, as vtgate would show them; the third has no rows of companies. */
export interface TestShards<DB> {
  readonly db: Database<DB>;
  of(companyId: number): TestDatabase;
  /** The companies with rows in a table of `front` and of the shards `-80` and `80-`. */
  companiesIn(table: string): Promise<readonly (readonly number[])[]>;
  /** What `companiesIn` returns if all of these companies have rows, each in its shard. */
  expected(companyIds: readonly number[]): readonly (readonly number[])[];
}

export const testShards = async <DB>(
  folders: Parameters<typeof testDatabase>[0]['folders'],
  options: Partial<Omit<DatabaseOptions, 'url'>>,
): Promise<TestShards<DB>> => {
  const [front, first, second] = [
    await testDatabase({ folders }),
    await testDatabase({ folders }),
    await testDatabase({ folders }),
  ];
  const handles = { '-80': first.connect<DB>(options), '80-': second.connect<DB>(options) };
  const isFirst = (companyId: number): boolean => keyspaceIdOf(companyId) < '80';
  return {
    db: front.connect<DB>({
      ...options,
      shards: {
        read: async () => Object.keys(handles),
        open: (name) => handles[name as keyof typeof handles],
      },
    }),
    of: (companyId) => (isFirst(companyId) ? first : second),
    companiesIn: (table) =>
      Promise.all(
        [front, first, second].map(async ({ name, query }) => {
          const rows = await query<{ company_id: number }>(
            'SELECT DISTINCT company_id FROM ??.?? WHERE company_id > 0 ORDER BY 1',
            [name, table],
          );
          return rows.map(({ company_id }) => company_id);
        }),
      ),
    expected: (companyIds) => [
      [],
      companyIds.filter(isFirst).toSorted((a, b) => a - b),
      companyIds.filter((id) => !isFirst(id)).toSorted((a, b) => a - b),
    ],
  };
};
