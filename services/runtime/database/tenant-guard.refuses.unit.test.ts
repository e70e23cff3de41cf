import { expressionBuilder, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { TenantGuardError } from './errors.ts';
import { acrossTenants } from './tenant-guard.ts';
import { rowList, tenantIn, tenantIs } from './tenant-raw.ts';
import { type Builds, compile, type Db, openGuarded, people, type Tables } from './testing/tenants.ts';

const refused: Record<string, Builds> = {
  'a select without a condition': (db) => people(db),
  'a condition on another column': (db) => people(db).where('id', '=', 1),
  'another comparison': (db) => people(db).where('company_id', '>', 1),
  'a negated condition': (db) => people(db).where((eb) => eb.not(eb('company_id', '=', 1))),
  'null and undefined for a value': (db) => people(db).where('company_id', '=', undefined as never),
  'true for a value': (db) => people(db).where('company_id', '=', true as never),
  'an object for a value': (db) => people(db).where('company_id', '=', { company_id: 1 } as never),
  'an empty list': (db) => people(db).where('company_id', 'in', []),
  'a list with a hole': (db) => people(db).where('company_id', 'in', [1, null as never]),
  'the column compared with itself': (db) =>
    people(db).whereRef('people.company_id', '=', 'people.company_id'),
  'an or with one side that does not bind': (db) =>
    people(db).where((eb) => eb.or([eb('company_id', '=', 1), eb('name', '=', 'x')])),
  'a condition in having': (db) => people(db).groupBy('id').having('company_id', '=', 1),
  'a subquery for a value': (db) =>
    people(db).where('company_id', 'in', (eb) => eb.selectFrom('companies').select('company_id')),
  'a raw value': (db) => people(db).where('company_id', '=', sql<number>`(select 1)`),
  'an alias that another table has': (db) =>
    db.selectFrom(['people as p', 'jobs as j']).select('p.id').where('j.company_id', '=', 1),
  'a join that is not on the column': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('notes as n', 'n.person_id', 'p.id')
      .select('n.text')
      .where('p.company_id', '=', 1),
  'a left join whose ON is to bind the left side': (db) =>
    db
      .selectFrom('people as p')
      .leftJoin('notes as n', (on) => on.on('n.company_id', '=', 1).on('p.company_id', '=', 1))
      .select('p.id'),
  'a left join that equates with its bound right side': (db) =>
    db
      .selectFrom('people as p')
      .leftJoin('notes as n', (on) =>
        on.onRef('n.company_id', '=', 'p.company_id').on('n.company_id', '=', 1),
      )
      .select('p.id'),
  'a right join whose ON is to bind the right side': (db) =>
    db
      .selectFrom('people as p')
      .rightJoin('notes as n', (on) => on.on('n.company_id', '=', 1).on('p.company_id', '=', 1))
      .select('n.id'),
  'a cross join': (db) =>
    db.selectFrom('people as p').crossJoin('notes as n').select('n.id').where('p.company_id', '=', 1),
  'an unqualified column of two tenant tables': (db) =>
    db
      .selectFrom(['people', 'notes'])
      .select('text')
      .where('company_id' as never, '=', 1 as never),
  'a self join bound once': (db) =>
    db
      .selectFrom('people as p')
      .innerJoin('people as boss', 'boss.id', 'p.boss_id')
      .select('boss.name')
      .where('p.company_id', '=', 1),
  'an exists that is not correlated': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where((eb) => eb.exists(eb.selectFrom('notes').select('id').where('text', '=', 'x'))),
  'an exists correlated by another column': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where((eb) =>
        eb.exists(eb.selectFrom('notes as n').select('n.id').whereRef('n.person_id', '=', 'people.id')),
      ),
  'a subquery bound to bind what is around it': (db) =>
    people(db).where((eb) =>
      eb.exists(
        eb
          .selectFrom('notes as n')
          .select('n.id')
          .where('n.company_id', '=', 1)
          .whereRef('n.company_id', '=', 'people.company_id'),
      ),
    ),
  'an unbound subquery in the select list, order or limit': (db) =>
    db
      .selectFrom('jobs')
      .select('id')
      .orderBy((eb) => eb.selectFrom('people').select('name').limit(1)),
  'an unbound derived table': (db) =>
    db.selectFrom((eb) => eb.selectFrom('people').select('id').as('p')).select('p.id'),
  'a join on a derived column of another meaning': (db) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('people')
          .select((of) => of.ref('id').as('company_id'))
          .where('company_id', '=', 1)
          .as('p'),
      )
      .innerJoin('notes as n', 'n.company_id', 'p.company_id')
      .select('n.id'),
  'an unbound common table expression': (db) =>
    db
      .with('all_people', (q) => q.selectFrom('people').select('id'))
      .selectFrom('all_people')
      .select('id'),
  'a common table expression named like the table it reads': (db) =>
    db
      .with('people', (q) => q.selectFrom('people').selectAll())
      .selectFrom('people')
      .select('id')
      .where('company_id', '=', 1),
  'a recursive common table expression that leaves its tenant': (db) =>
    db
      .withRecursive('chain', (q) =>
        q
          .selectFrom('people')
          .select(['company_id', 'id', 'boss_id'])
          .where('company_id', '=', 1)
          .unionAll((next) =>
            next
              .selectFrom('chain')
              .innerJoin('people as p', 'p.id', 'chain.boss_id')
              .select(['p.company_id', 'p.id', 'p.boss_id']),
          ),
      )
      .selectFrom('chain')
      .select('id'),
  'a union with one unbound side': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .unionAll((eb) => eb.selectFrom('notes').select('id')),
  'an unbound lateral join': (db) =>
    db
      .selectFrom('people as p')
      .innerJoinLateral(
        (eb) => eb.selectFrom('notes as n').select('n.text').whereRef('n.person_id', '=', 'p.id').as('last'),
        (on) => on.onTrue(),
      )
      .select('last.text')
      .where('p.company_id', '=', 1),
  'a table of another schema': (db) =>
    db.withSchema('other').selectFrom('people').select('id').where('company_id', '=', 1),
  'a raw table': (db) =>
    db.selectFrom(sql<{ id: number }>`people`.as('p')).select('p.id').where(sql.ref('p.company_id'), '=', 1),
  'a raw reference to a table': (db) =>
    db.selectFrom(sql.table<Tables['people']>('people').as('p')).selectAll(),
  'a raw condition in place of the real one': (db) => people(db).where(sql<boolean>`people.company_id = 1`),
  'raw SQL with an or that undoes the condition': (db) =>
    people(db).where('company_id', '=', 1).where(sql<boolean>`name = 'x' or 1 = 1`),
  'raw SQL that closes a foreign parenthesis': (db) =>
    people(db).where('company_id', '=', 1).where(sql<boolean>`1 = 1) or (1 = 1`),
  'raw SQL with a comment': (db) => people(db).where(sql<boolean>`1 = 1 -- `).where('company_id', '=', 1),
  'raw SQL with a version comment': (db) =>
    people(db).where('company_id', '=', 1).modifyEnd(sql`/*!99999 union select */`),
  'raw SQL with a comment in a hint': (db) =>
    people(db).where('company_id', '=', 1).modifyFront(sql`/*+ a /*!99999 b */ c */`),
  'raw SQL with a hint and an unbound table': () =>
    sql`select /*+ INDEX(people PRIMARY) */ id from people` as never,
  'raw SQL that names a table in a subquery': (db) =>
    people(db).where('company_id', '=', 1).where(sql<boolean>`exists (select 1 from notes)`),
  'raw SQL that names a table by an identifier': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where(sql<boolean>`exists (select 1 from ${sql.id('notes')})`),
  'raw SQL around an unbound query': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where(
        sql<boolean>`exists ${db.selectFrom('jobs').select((eb) => eb.selectFrom('notes').select('id').as('x'))}`,
      ),
  'raw SQL appended at the end': (db) =>
    people(db).where('company_id', '=', 1).modifyEnd(sql`union all select id from people`),
  'whole raw SQL on a tenant table': () => sql`select * from people where company_id = 1` as never,
  'whole raw SQL with a tenant list for one table of two': () =>
    sql`select 1 from people p, notes n where p.company_id in ${tenantIn(1)}` as never,
  'whole raw SQL with a tenant list on another column': () =>
    sql`select 1 from people where id in ${tenantIn(1)}` as never,
  'whole raw SQL that changes a tenant table': () => sql.raw('DELETE FROM `People`') as never,
  'an update without a condition': (db) => db.updateTable('people').set({ name: 'x' }).where('id', '=', 1),
  'an update that moves a row to another tenant': (db) =>
    db.updateTable('people').set({ company_id: 2 }).where('company_id', '=', 1),
  'an update of joined tables that binds one': (db) =>
    db
      .updateTable(['people as p', 'notes as n'])
      .set({ name: 'x' })
      .whereRef('n.person_id', '=', 'p.id')
      .where('p.company_id', '=', 1),
  'an update of a column in raw SQL': (db) =>
    db.updateTable('people').set(sql<number>`company_id`, 2).where('company_id', '=', 1),
  'an update with an unbound subquery for a value': (db) =>
    db
      .updateTable('people')
      .set((eb) => ({ name: eb.selectFrom('notes').select('text').limit(1) }))
      .where('company_id', '=', 1),
  'a delete without a condition': (db) => db.deleteFrom('notes').where('id', '=', 1),
  'a delete with an unbound join': (db) =>
    db
      .deleteFrom('notes')
      .using('notes')
      .innerJoin('people as p', 'p.id', 'notes.person_id')
      .where('notes.company_id', '=', 1),
  'an insert without the column': (db) =>
    db.insertInto('notes').values({ id: 1, person_id: 1, text: 'x' } as never),
  'an insert with a row that lacks the column': (db) =>
    db
      .insertInto('notes')
      .values([
        { company_id: 1, id: 1, person_id: 1, text: 'x' },
        { id: 2, person_id: 1, text: 'y' } as never,
      ]),
  'an insert with null for the column': (db) =>
    db.insertInto('notes').values({ company_id: null as never, id: 1, person_id: 1, text: 'x' }),
  'an insert with an expression for the column': (db) =>
    db.insertInto('notes').values({ company_id: sql<number>`1 + 1`, id: 1, person_id: 1, text: 'x' }),
  'an insert of default values': (db) => db.insertInto('notes').defaultValues(),
  'an insert that moves a row on a duplicate key': (db) =>
    db
      .insertInto('notes')
      .values({ company_id: 1, id: 1, person_id: 1, text: 'x' })
      .onDuplicateKeyUpdate({ company_id: 2 }),
  'an insert from an unbound select': (db) =>
    db
      .insertInto('notes')
      .columns(['company_id', 'person_id'])
      .expression((eb) => eb.selectFrom('people').select(['company_id', 'id'])),
  'an insert from a select of another column': (db) =>
    db
      .insertInto('notes')
      .columns(['company_id', 'person_id'])
      .expression((eb) => eb.selectFrom('people').select(['id', 'id as x']).where('company_id', '=', 1)),
  'an insert from a select that takes everything': (db) =>
    db
      .insertInto('notes')
      .columns(['person_id', 'company_id'])
      .expression((eb) => eb.selectFrom('people').selectAll().where('company_id', '=', 1)),
  'a join on a union of everything, whose columns may be in any order': (db) =>
    db
      .with('both', (q) =>
        q
          .selectFrom('people')
          .selectAll()
          .where('company_id', '=', 1)
          .unionAll((eb) => eb.selectFrom('people').selectAll().where('company_id', '=', 2)),
      )
      .selectFrom('both')
      .innerJoin('notes as n', 'n.company_id', 'both.company_id')
      .select('n.id'),
  'a replace without the column': (db) =>
    db.replaceInto('notes').values({ id: 1, person_id: 1, text: 'x' } as never),
  'a kind of query that the guard does not know': (db) =>
    db.mergeInto('people as p').using('notes as n', 'n.person_id', 'p.id').whenMatched().thenDelete(),
  'a change of the schema': (db) => db.schema.dropTable('people'),
  'the value on the left': (db) => people(db).where((eb) => eb(eb.val(1), '=', eb.ref('company_id'))),
  'a column in upper case': (db) => people(db).where(sql.ref('people.COMPANY_ID'), '=', 1),
  'a chain of joins through a table that is no tenant table': (db) =>
    db
      .selectFrom('companies as c')
      .innerJoin('people as p', 'p.company_id', 'c.company_id')
      .innerJoin('notes as n', 'n.company_id', 'p.company_id')
      .select('n.id')
      .where('c.company_id', '=', 1),
  'an insert from an unbound select that gives the value': (db) =>
    db
      .insertInto('notes')
      .columns(['company_id', 'person_id'])
      .expression((eb) => eb.selectFrom('people').select((of) => [of.val(1).as('company_id'), 'id'])),
  'an insert from a select with a star before the value': (db) =>
    db
      .insertInto('notes')
      .columns(['person_id', 'company_id', 'id'])
      .expression((eb) =>
        eb
          .selectFrom('people')
          .selectAll()
          .select((of) => of.val(1).as('company_id'))
          .where('company_id', '=', 1),
      ),
  'an insert from raw SQL': (db) =>
    db
      .insertInto('notes')
      .columns(['company_id', 'id'])
      .expression(sql<never>`select 1, id from jobs` as never),
  'an update that moves a row by another spelling of the column': (db) =>
    db
      .updateTable('people')
      .set({ COMPANY_ID: 2 } as never)
      .where('company_id', '=', 1),
  'a delete that names a second table in using': (db) =>
    db.deleteFrom('notes').using(['notes', 'people']).where('notes.company_id', '=', 1),
  'an update from another table': (db) =>
    db.updateTable('people').from('notes').set({ name: 'x' }).where('people.company_id', '=', 1),
  'a lock of a table by its name': (db) => people(db).where('company_id', '=', 1).forUpdate('people'),
  'raw SQL around an unbound subquery of an expression builder': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where(sql<boolean>`exists (${expressionBuilder<Tables>().selectFrom('notes').select('id')})`),
  'raw SQL that names a table by a reference': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where(sql<boolean>`exists (select 1 from ${sql.ref('notes')})`),
  'raw SQL that names a table in two pieces': (db) =>
    people(db)
      .where('company_id', '=', 1)
      .where(sql<boolean>`exists (select 1 from no${sql.raw('tes')})`),
  'whole raw SQL with an or that undoes the condition': () =>
    sql`select 1 from people where company_id in ${tenantIn(1)} or 1 = 1` as never,
  'whole raw SQL with an or beside the tenant list, in parentheses': () =>
    sql`select 1 from people where (name = 'x' or company_id in ${tenantIn(1)} and id = 1)` as never,
  'whole raw SQL with a tenant list in negated parentheses': () =>
    sql`select 1 from people where not (id = 1 and company_id in ${tenantIn(1)})` as never,
  'whole raw SQL with two tenant lists for one table of two': () =>
    sql`select 1 from people p, notes n where p.company_id in ${tenantIn(1)} and p.company_id in ${tenantIn(1)}` as never,
  'whole raw SQL with a tenant list that is negated': () =>
    sql`select 1 from people where company_id not in ${tenantIn(1)}` as never,
  'whole raw SQL with a tenant list on a longer column': () =>
    sql`select 1 from people where old_company_id in ${tenantIn(1)}` as never,
  'whole raw SQL with a tenant list in a text': () =>
    sql`select 1 from people where name = 'company_id in ${tenantIn(1)}'` as never,
  'whole raw SQL with a tenant in another comparison': () =>
    sql`select 1 from people where company_id <> ${tenantIs(1)}` as never,
  'raw rows in which one lacks its tenant': () =>
    sql`insert into notes (company_id, id) values ${rowList([
      [1, 1],
      [null, 2],
    ])}` as never,
  'raw rows whose first column is another one': () =>
    sql`insert into notes (id, company_id) values ${rowList([[1, 1]])}` as never,
  'raw rows beside a row that is written out': () =>
    sql`insert into notes (company_id, id) values ${rowList([[1, 1]])}, (2, 2)` as never,
  'raw rows that move a row on a duplicate key': () =>
    sql`insert into notes (company_id, id) values ${rowList([[1, 1]])} on duplicate key update company_id = 2` as never,
  'raw keys whose first column is another one': () =>
    sql`delete from notes where (id, company_id) in (${rowList([[1, 1]])})` as never,
  'raw keys whose first column is an expression': () =>
    sql`delete from notes where (company_id + 1, id) in (${rowList([[1, 1]])})` as never,
  'raw keys that are negated': () =>
    sql`delete from notes where (company_id, id) not in (${rowList([[1, 1]])})` as never,
  'raw keys in negated parentheses': () =>
    sql`delete from notes where not ((company_id, id) in (${rowList([[1, 1]])}))` as never,
  'raw keys with an or that undoes them': () =>
    sql`delete from notes where ((company_id, id) in (${rowList([[1, 1]])}) or id = 1)` as never,
  'raw keys of one table of two': () =>
    sql`select 1 from people p, notes n where (p.company_id, p.id) in (${rowList([[1, 1]])})` as never,
  'raw rows as the values of another list': () =>
    sql`select 1 from notes where (id, person_id) in (${rowList([[1, 1]])})` as never,
  'whole raw SQL that assigns a tenant': () =>
    sql`update people set company_id = ${tenantIs(1)} where id = 2` as never,
};

describe('the tenant guard', () => {
  for (const [name, build] of Object.entries(refused)) {
    it(`refuses ${name}`, () => {
      expect(() => compile(openGuarded(), build)).toThrow(TenantGuardError);
    });
    it(`lets ${name} through acrossTenants`, () => {
      const everyones = acrossTenants(openGuarded(), 'the test asks for it');
      expect(() => compile(everyones, build)).not.toThrow();
    });
  }

  it('names the table and the way out', () => {
    expect(() => people(openGuarded()).where('id', '=', 1).compile()).toThrow(
      'no condition binds people.company_id; compare it with a value',
    );
  });

  it('names what it does not support', () => {
    const union = (db: Db) => people(db).union((eb) => eb.selectFrom('jobs').select('id'));
    expect(() => compile(openGuarded(), union)).toThrow('the tenant guard does not support unions');
    const derived = (db: Db) =>
      db.selectFrom((eb) => eb.selectFrom('jobs').select('id').as('j')).select('j.id');
    expect(() => compile(openGuarded(), derived)).toThrow(
      'does not support SelectQueryNode in place of a table',
    );
  });
});
