import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { rowList, tenantIn, tenantIs } from './tenant-raw.ts';
import { type Builds, compile, openGuarded, people } from './testing/tenants.ts';

const accepted: Record<string, Builds> = {
  'a select with the column equal to a value': (db) => people(db).where('company_id', '=', 1),
  'a list of values': (db) => people(db).where('company_id', 'in', [0, 1]),
  'a bigint and a text as value': (db) =>
    people(db)
      .where('company_id', '=', 1n as never)
      .where('name', '=', 'x'),
  'a qualified column': (db) => people(db).where('people.company_id', '=', 1),
  'an alias': (db) => db.selectFrom('people as p').select('p.id').where('p.company_id', '=', 1),
  'the condition among others': (db) =>
    people(db).where('name', '=', 'x').where('company_id', '=', 1).where('id', '>', 5),
  'the condition in and() inside of parentheses': (db) =>
    people(db).where((eb) => eb.and([eb('company_id', '=', 1), eb.or([eb('id', '=', 1), eb('id', '=', 2)])])),
  'a list of tuples': (db) =>
    people(db).where((eb) =>
      eb(eb.refTuple('company_id', 'id'), 'in', [eb.tuple(1, 2), eb.tuple(3, 4)] as never),
    ),
  'a join bound in its ON': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('notes as n', (on) => on.onRef('n.person_id', '=', 'p.id').on('n.company_id', '=', 1))
      .select('n.text')
      .where('p.company_id', '=', 1),
  'a join bound in the WHERE': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('notes as n', 'n.person_id', 'p.id')
      .select('n.text')
      .where('n.company_id', '=', 1)
      .where('p.company_id', '=', 1),
  'a left join bound in its ON': (db) =>
    db
      .selectFrom('people as p')
      .leftJoin('notes as n', (on) => on.onRef('n.person_id', '=', 'p.id').on('n.company_id', 'in', [1]))
      .select(['p.id', 'n.text'])
      .where('p.company_id', '=', 1),
  'a left join bound in the WHERE': (db) =>
    db
      .selectFrom('people as p')
      .leftJoin('notes as n', 'n.person_id', 'p.id')
      .select('n.text')
      .where('p.company_id', '=', 1)
      .where('n.company_id', '=', 1),
  'a self join bound twice': (db) =>
    db
      .selectFrom('people as p')
      .leftJoin('people as boss', (on) => on.on('boss.company_id', '=', 1).onRef('boss.id', '=', 'p.boss_id'))
      .select('boss.name')
      .where('p.company_id', '=', 1),
  'a join with a table that is no tenant table': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('companies as c', 'c.company_id', 'p.company_id')
      .select(['p.id', 'c.name'])
      .where('p.company_id', '=', 1),
  'an in with a bound subquery': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where('id', 'in', (eb) => eb.selectFrom('notes').select('person_id').where('company_id', '=', 1)),
  'an exists with a condition of its own': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('notes as n')
            .select('n.id')
            .where('n.company_id', '=', 1)
            .whereRef('n.person_id', '=', 'people.id'),
        ),
      ),
  'a scalar subquery with a condition of its own': (db) =>
    db
      .selectFrom('people as p')
      .select((eb) => [
        'p.id',
        eb
          .selectFrom('notes as n')
          .select((fn) => fn.fn.countAll<number>().as('count'))
          .where('n.company_id', '=', 1)
          .whereRef('n.person_id', '=', 'p.id')
          .as('notes'),
      ])
      .where('p.company_id', '=', 1),
  'a locking select': (db) => people(db).where('company_id', '=', 1).forUpdate().skipLocked(),
  'a table of no tenant': (db) => db.selectFrom('jobs').selectAll(),
  'raw SQL as an expression': (db) =>
    people(db)
      .select(sql<string>`lower(people.email)`.as('mail'))
      .where('company_id', '=', 1)
      .where(sql<boolean>`(name = 'a' or name = 'b;--')`),
  'raw SQL with bound tenant lists, a subquery in it': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where(sql<boolean>`exists (select 1 from notes n where n.company_id in ${tenantIn([1])})`),
  'whole raw SQL that says whose rows for each table': () =>
    sql`select p.id from people p join notes n on n.company_id in ${tenantIn(1)} and n.person_id = p.id
        where p.company_id in ${tenantIn(1)} and (p.id = 1 or p.id = 2)` as never,
  'whole raw SQL with a hint that names the table': () =>
    sql`select /*+ INDEX(people PRIMARY) */ id from people where company_id in ${tenantIn(1)}` as never,
  'whole raw SQL that names the table by a parameter': () =>
    sql`update ${sql.table('people')} as p set p.name = 'x' where p.company_id in ${tenantIn(1)}` as never,
  'raw SQL with one tenant': () =>
    sql`update people set name = 'x' where company_id = ${tenantIs(1)} and id = 2` as never,
  'whole raw SQL that inserts rows which begin with their tenants': () =>
    sql`insert into notes (${sql.ref('company_id')}, id, text) values ${rowList([
      [1, 1, 'a'],
      [2, 1, 'b'],
    ])} on duplicate key update text = values(text)` as never,
  'whole raw SQL with a list of keys that begin with their tenants': () =>
    sql`delete from notes where (company_id, id) in (${rowList([[1, 2]])}) and (text = 'a' or text = 'b')` as never,
  'whole raw SQL with such a list for each of two tables': () =>
    sql`select 1 from people p join notes n on (n.company_id, n.person_id) in (${rowList([[1, 2]])})
        where (p.company_id, p.id) in (${rowList([[1, 2]])})` as never,
  'whole raw SQL on no tenant table': () => sql`select get_lock('people.x', 1)` as never,
  'a select from nothing': (db) => db.selectNoFrom((eb) => eb.lit(1).as('one')),
  'an update': (db) => db.updateTable('people').set({ name: 'x' }).where('company_id', '=', 1),
  'a delete': (db) => db.deleteFrom('notes').where('company_id', '=', 1).where('id', '<', 9),
  'an insert': (db) => db.insertInto('notes').values({ company_id: 1, id: 1, person_id: 1, text: 'x' }),
  'an insert of rows with expressions': (db) =>
    db.insertInto('notes').values([
      { company_id: 1, id: 1, person_id: 1, text: sql<string>`upper('x')` },
      { company_id: 2, id: 1, person_id: 1, text: 'y' },
    ]),
  'an insert on duplicate key update': (db) =>
    db
      .insertInto('notes')
      .values({ company_id: 1, id: 1, person_id: 1, text: 'x' })
      .onDuplicateKeyUpdate({ text: sql<string>`concat(notes.text, values(text))` }),
  'an insert from a bound select that gives the value': (db) =>
    db
      .insertInto('notes')
      .columns(['company_id', 'person_id', 'text'])
      .expression((eb) =>
        eb
          .selectFrom('people')
          .select((of) => [of.val(1).as('company_id'), 'id', of.val('hello').as('text')])
          .where('company_id', '=', 1),
      ),
};

describe('the tenant guard', () => {
  for (const [name, build] of Object.entries(accepted)) {
    it(`accepts ${name}`, () => {
      expect(() => compile(openGuarded(), build)).not.toThrow();
    });
  }
});
