import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { provided, testDatabase } from './index.ts';

const folder = await mkdtemp(join(provided('scratch'), 'causeway-test-migrations-'));
await writeFile(
  join(folder, '001-all.sql'),
  `CREATE TABLE one (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY);
   CREATE TABLE two (id BIGINT NOT NULL PRIMARY KEY);
   CREATE TRIGGER added AFTER INSERT ON one FOR EACH ROW INSERT INTO two VALUES (NEW.id);
   CREATE TRIGGER removed AFTER DELETE ON one FOR EACH ROW INSERT INTO two VALUES (OLD.id + 1000);
   INSERT INTO one VALUES (7);`,
);

test.each(['the first time', 'again', 'after a change of its tables'])(
  'a database is as the migrations left it: %s',
  async () => {
    const { query, name } = await testDatabase({ folders: [{ name: 'pool', folder }] });
    taken.push(name);
    expect(await query('SELECT id FROM one')).toEqual([{ id: 7 }]);
    expect(await query('SELECT id FROM two')).toEqual([{ id: 7 }]);
    await query('INSERT INTO one VALUES ()');
    expect(await query('SELECT MAX(id) AS id FROM one')).toEqual([{ id: 8 }]);
    await query('DELETE FROM one');
    if (taken.length === 2) await query('ALTER TABLE two ADD COLUMN more INT');
  },
);
const taken: string[] = [];

test('a database whose tables no test changed is taken again', () => {
  expect(taken[1]).toBe(taken[0]);
  expect(taken[2]).not.toBe(taken[1]);
});
