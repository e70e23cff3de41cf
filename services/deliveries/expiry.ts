import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Whether a subscription is enabled and has not expired; `columns` begins with the table's name and a dot, or is ''. */
export const isLive = (now: Date, columns: 's.' | '' = ''): RawBuilder<SqlBool> => {
  const [enabled, expires] = [sql.raw(`${columns}enabled`), sql.raw(`${columns}expires_utc`)];
  return sql<SqlBool>`(${enabled} = 1 AND (${expires} IS NULL OR ${expires} > ${now}))`;
};

/** The new `expires_utc` of a tool's subscription that has lost its tool (contract, "Subscriptions"). */
export const expiryWithoutTool = (now: Date): RawBuilder<Date | null> => {
  const until = new Date(now.getTime() + keptWithoutToolMs);
  return sql`IF(managed_by IS NULL, expires_utc, LEAST(COALESCE(expires_utc, ${until}), ${until}))`;
};

const keptWithoutToolMs = 30 * 86_400_000;
