import { createConnection } from 'mysql2/promise';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { migrate } from '../database/migrate.ts';
import { parseMysqlUrl } from '../database/url.ts';
import { takeDatabase } from './database-pool.ts';
import { provided, testDatabase, withDatabase } from './index.ts';

const folders = [{ name: 'fixtures', folder: `${import.meta.dirname}/../database/testing/migrations` }];

describe('a test database', () => {
  it('is as the migrations leave it, and not shared', async () => {
    const one = await testDatabase({ folders });
    const other = await testDatabase({ folders });
    await one.query("INSERT INTO accounts (company_id, name) VALUES (5, 'here only')");
    expect(
      await one.query('SELECT company_id, name, name_length FROM accounts ORDER BY id DESC LIMIT 1'),
    ).toEqual([{ company_id: 5, name: 'here only', name_length: 9 }]);
    expect(await other.query('SELECT COUNT(*) AS count FROM accounts')).toEqual([{ count: 2 }]);
    expect(await other.query('SELECT file FROM schema_migrations')).toEqual([
      { file: 'fixtures/001-accounts.sql' },
    ]);
    const create = (await other.query('SHOW CREATE TABLE accounts'))[0];
    expect(create).toHaveProperty('Create Table', expect.stringContaining('UNIQUE KEY `by_name`'));
  });

  it('checks values as strictly as production does', async () => {
    const { query } = await testDatabase({ folders });
    await expect(
      query('INSERT INTO accounts (company_id, name) VALUES (5, ?)', ['x'.repeat(101)]),
    ).rejects.toThrow('Data too long');
  });

  describe('that a test has given back', () => {
    const template = `test_template_of_${process.pid}`;
    const connectTo = async () => {
      const url = parseMysqlUrl(withDatabase(provided('mysqlUrl'), ''));
      const admin = await createConnection({ ...url, multipleStatements: true });
      onTestFinished(() => admin.end());
      return admin;
    };
    const use = async (work: string): Promise<string> => {
      const admin = await connectTo();
      const name = await takeDatabase(admin, template);
      await admin.query(work);
      await admin.end();
      return name;
    };
    const contentOf = async (name: string) => {
      const admin = await connectTo();
      const [[rows], [made]] = [
        await admin.query('SELECT * FROM ??.accounts ORDER BY id', [name]),
        await admin.query('SHOW CREATE TABLE ??.accounts', [name]),
      ];
      return [rows, made];
    };

    it('is used by the next, with the rows and the next id that the migrations leave', async () => {
      await migrate(withDatabase(provided('mysqlUrl'), template), folders);
      const fresh = await use('DO 1');
      const content = await contentOf(fresh);
      const [few, many] = [1, 3_000].map(
        (count) => `DELETE FROM accounts; SET SESSION cte_max_recursion_depth = 10000;
          INSERT INTO accounts (company_id, name) WITH RECURSIVE n AS
          (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < ${count}) SELECT n, n FROM n`,
      );
      for (const work of [few!, many!]) {
        expect(await use(work)).toBe(fresh);
        expect(await contentOf(fresh)).not.toEqual(content);
        expect(await use('DO 1')).toBe(fresh);
        expect(await contentOf(fresh)).toEqual(content);
      }
    });

    it('is created again if its tables were changed, and not shared while in use', async () => {
      const changed = await use('ALTER TABLE accounts ADD more INT');
      const [one, other] = [await connectTo(), await connectTo()];
      const taken = await takeDatabase(one, template);
      expect(taken).not.toBe(changed);
      expect(await takeDatabase(other, template)).not.toBe(taken);
      const [left] = await one.query('SHOW DATABASES LIKE ?', [changed]);
      expect(left).toEqual([]);
    });

    it('is passed over if another test drops it before it is locked', async () => {
      const dropped = await use('DO 1');
      const admin = await connectTo();
      const query = admin.query.bind(admin);
      vi.spyOn(admin, 'query').mockImplementation(async (...given) => {
        if (String(given[0]).includes('GET_LOCK')) await query('DROP DATABASE IF EXISTS ??', [dropped]);
        return query(...given);
      });
      expect(await takeDatabase(admin, template)).not.toBe(dropped);
    });
  });

  it.fails('fails the test that leaves a connection open', async () => {
    const { url } = await testDatabase({ folders });
    const leaked = await createConnection(parseMysqlUrl(url));
    // After the check for open connections has given up.
    setTimeout(() => leaked.destroy(), 3_000);
  });
});
