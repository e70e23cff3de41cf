import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Builds, compile, openGuarded, people } from './fixtures/tenants.ts';
import { tenantIn } from './tenant-guard.ts';

const accepted: Record<string, Builds> = {
  'a select with the column equal to a value': (db) => people(db).where('company_id', '=', 1),
  'the value on the left': (db) => people(db).where((eb) => eb(eb.val(1), '=', eb.ref('company_id'))),
  'a list of values': (db) => people(db).where('company_id', 'in', [0, 1]),
  'a bigint and a text as value': (db) =>
    people(db)
      .where('company_id', '=', 1n as never)
      .where('name', '=', 'x'),
  'a qualified column': (db) => people(db).where('people.company_id', '=', 1),
  'a column in upper case': (db) => people(db).where(sql.ref('people.COMPANY_ID'), '=', 1),
  'an alias': (db) => db.selectFrom('people as p').select('p.id').where('p.company_id', '=', 1),
  'the condition among others': (db) =>
    people(db).where('name', '=', 'x').where('company_id', '=', 1).where('id', '>', 5),
  'the condition in and() inside of parentheses': (db) =>
    people(db).where((eb) => eb.and([eb('company_id', '=', 1), eb.or([eb('id', '=', 1), eb('id', '=', 2)])])),
  'an or whose sides all bind': (db) =>
    people(db).where((eb) =>
      eb.or([
        eb.and([eb('company_id', '=', 1), eb('name', '=', 'x')]),
        eb.and([eb('company_id', '=', 0), eb('name', '=', 'y')]),
      ]),
    ),
  'a list of tuples': (db) =>
    people(db).where((eb) =>
      eb(eb.refTuple('company_id', 'id'), 'in', [eb.tuple(1, 2), eb.tuple(3, 4)] as never),
    ),
  'a join on the column': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('notes as n', (on) =>
        on.onRef('n.company_id', '=', 'p.company_id').onRef('n.person_id', '=', 'p.id'),
      )
      .select('n.text')
      .where('p.company_id', '=', 1),
  'a join bound at its other end': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('notes as n', 'n.company_id', 'p.company_id')
      .select('n.text')
      .where('n.company_id', '=', 1),
  'a join bound in its ON': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('notes as n', (on) => on.onRef('n.person_id', '=', 'p.id').on('n.company_id', '=', 1))
      .select('n.text')
      .where('p.company_id', '=', 1),
  'a chain of joins through a table that is no tenant table': (db) =>
    db
      .selectFrom('companies as c')
      .innerJoin('people as p', 'p.company_id', 'c.company_id')
      .innerJoin('notes as n', 'n.company_id', 'p.company_id')
      .select('n.id')
      .where('c.company_id', '=', 1),
  'a left join on the column of the bound side': (db) =>
    db
      .selectFrom('people as p')
      .leftJoin('notes as n', (on) =>
        on.onRef('n.company_id', '=', 'p.company_id').onRef('n.person_id', '=', 'p.id'),
      )
      .select(['p.id', 'n.text'])
      .where('p.company_id', '=', 1),
  'a self join': (db) =>
    db
      .selectFrom('people as p')
      .leftJoin('people as boss', (on) =>
        on.onRef('boss.company_id', '=', 'p.company_id').onRef('boss.id', '=', 'p.boss_id'),
      )
      .select('boss.name')
      .where('p.company_id', '=', 1),
  'a right join bound on both sides': (db) =>
    db
      .selectFrom('people as p')
      .rightJoin('notes as n', 'n.company_id', 'p.company_id')
      .select('n.id')
      .where('n.company_id', '=', 1),
  'an exists correlated by the column': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('notes as n')
            .select('n.id')
            .whereRef('n.company_id', '=', 'people.company_id')
            .whereRef('n.person_id', '=', 'people.id'),
        ),
      ),
  'an in with a bound subquery': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where('id', 'in', (eb) => eb.selectFrom('notes').select('person_id').where('company_id', '=', 1)),
  'a scalar subquery in the select list': (db) =>
    db
      .selectFrom('people as p')
      .select((eb) => [
        'p.id',
        eb
          .selectFrom('notes as n')
          .select((fn) => fn.fn.countAll<number>().as('count'))
          .whereRef('n.company_id', '=', 'p.company_id')
          .as('notes'),
      ])
      .where('p.company_id', '=', 1),
  'a derived table that is bound inside': (db) =>
    db
      .selectFrom((eb) => eb.selectFrom('people').select(['id', 'name']).where('company_id', '=', 1).as('p'))
      .select('p.name'),
  'a join on a derived table that passes the column on': (db) =>
    db
      .selectFrom((eb) =>
        eb.selectFrom('people').select(['company_id', 'id']).where('company_id', 'in', [1, 2]).as('p'),
      )
      .innerJoin('notes as n', 'n.company_id', 'p.company_id')
      .select('n.id'),
  'a join on a derived table that selects everything': (db) =>
    db
      .selectFrom((eb) => eb.selectFrom('people').selectAll().where('company_id', '=', 1).as('p'))
      .innerJoin('notes as n', 'n.company_id', 'p.company_id')
      .select('n.id'),
  'a common table expression': (db) =>
    db
      .with('mine', (q) => q.selectFrom('people').select(['company_id', 'id']).where('company_id', '=', 1))
      .selectFrom('mine')
      .innerJoin('notes as n', 'n.company_id', 'mine.company_id')
      .select('n.id'),
  'a common table expression with named columns': (db) =>
    db
      .with('mine(company_id, number)', (q) =>
        q
          .selectFrom('people')
          .select((eb) => ['company_id', eb.ref('id').as('number')])
          .where('company_id', '=', 1),
      )
      .selectFrom('mine')
      .innerJoin('notes as n', 'n.company_id', 'mine.company_id')
      .select('n.id'),
  'a recursive common table expression that keeps the column': (db) =>
    db
      .withRecursive('chain', (q) =>
        q
          .selectFrom('people')
          .select(['company_id', 'id', 'boss_id'])
          .where('company_id', '=', 1)
          .where('id', '=', 7)
          .unionAll((next) =>
            next
              .selectFrom('chain')
              .innerJoin('people as p', (on) =>
                on.onRef('p.company_id', '=', 'chain.company_id').onRef('p.id', '=', 'chain.boss_id'),
              )
              .select(['p.company_id', 'p.id', 'p.boss_id']),
          ),
      )
      .selectFrom('chain')
      .select('id'),
  'a union of bound selects': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .unionAll((eb) => eb.selectFrom('notes').select('id').where('company_id', '=', 1)),
  'a join on a union that keeps the column in its place': (db) =>
    db
      .with('both', (q) =>
        q
          .selectFrom('people')
          .select(['company_id', 'id'])
          .where('company_id', '=', 1)
          .unionAll((eb) => eb.selectFrom('notes').select(['company_id', 'id']).where('company_id', '=', 2)),
      )
      .selectFrom('both')
      .innerJoin('notes as n', 'n.company_id', 'both.company_id')
      .select('n.id'),
  'a lateral join correlated by the column': (db) =>
    db
      .selectFrom('people as p')
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom('notes as n')
            .select('n.text')
            .whereRef('n.company_id', '=', 'p.company_id')
            .whereRef('n.person_id', '=', 'p.id')
            .limit(1)
            .as('last'),
        (on) => on.onTrue(),
      )
      .select('last.text')
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
  'whole raw SQL on no tenant table': () => sql`select get_lock('people.x', 1)` as never,
  'a select from nothing': (db) => db.selectNoFrom((eb) => eb.lit(1).as('one')),
  'an update': (db) => db.updateTable('people').set({ name: 'x' }).where('company_id', '=', 1),
  'an update of joined tables': (db) =>
    db
      .updateTable(['people as p', 'notes as n'])
      .set({ name: 'x' })
      .whereRef('n.company_id', '=', 'p.company_id')
      .where('p.company_id', '=', 1),
  'a delete': (db) => db.deleteFrom('notes').where('company_id', '=', 1).where('id', '<', 9),
  'a delete with a join': (db) =>
    db
      .deleteFrom('notes as n')
      .using('notes as n')
      .innerJoin('people as p', 'p.company_id', 'n.company_id')
      .where('p.company_id', '=', 1),
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
  'an insert from a bound select': (db) =>
    db
      .insertInto('notes')
      .columns(['company_id', 'person_id', 'text'])
      .expression((eb) =>
        eb
          .selectFrom('people')
          .select((of) => ['company_id', 'id', of.val('hello').as('text')])
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
