import { type CompiledQuery, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { TenantGuardError } from './errors.ts';
import { guardOf } from './tenant-guard.ts';
import { isRowsOfTenants, type Value } from './tenant-raw.ts';

/**
 * A raw statement that is compiled, and checked by the tenant guard, once for each handle: doing so takes 50 to 120 µs,
 * as long as MySQL takes for many of them. Its text is the same for all parameters, which stand in it in their order. Rows are
 * one parameter, written as by `rowList`; each begins with the tenant.
 * @throws TenantGuardError
 */
export const statement = <Parameters extends readonly Parameter[], Row = unknown>(
  build: (...places: { [At in keyof Parameters]: RawBuilder<unknown> }) => RawBuilder<Row>,
): ((db: QueryExecutorProvider, ...parameters: Parameters) => CompiledQuery<Row>) => {
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  return (db, ...parameters) => {
    const guard = guardOf(db);
    const compiledBefore = compiled.get(guard);
    if (compiledBefore) {
      for (const rows of parameters)
        if (Array.isArray(rows) && !isRowsOfTenants(rows))
          throw new TenantGuardError(
            `each row must begin with its tenant: ${compiledBefore.sql.slice(0, 120)}`,
          );
      return { ...compiledBefore, parameters };
    }
    const places = parameters.map((parameter) => sql`${parameter}`);
    const query = build(...(places as { [At in keyof Parameters]: RawBuilder<unknown> })).compile(db);
    if (
      query.parameters.length !== parameters.length ||
      query.parameters.some((one, at) => one !== parameters[at])
    )
      throw new Error(`the parameters stand in another order: ${query.sql.slice(0, 120)}`);
    compiled.set(guard, query);
    return query;
  };
};

/** Rows of tenants, as one parameter of a statement. */
export type Rows = readonly (readonly Value[])[];

/** For `WHERE (company_id) IN ${companies}`. */
export const companyRows = (companyIds: readonly number[]): Rows =>
  companyIds.map((companyId) => [companyId]);

type Parameter = Rows | Value;
