import { ConfigError, parseConfig, readEnv } from '@causeway/runtime';
import { migrateConfig } from '../migrate/config.ts';
import { keyspaceNames } from './keyspaces.ts';
import { readPlainSchema, routingRules, shardedSchema } from './sharded-schema.ts';

// Prints what Vitess needs of a migrated schema on plain MySQL, `MYSQL_URL`: the tables of a keyspace
// (`directory` or `causeway`), or the `routing-rules`. Exits 78 for an invalid setting or argument.

try {
  const [part] = process.argv.slice(2);
  if (part === 'routing-rules') process.stdout.write(`${JSON.stringify(routingRules, undefined, 2)}\n`);
  else {
    const keyspace = keyspaceNames.find((name) => name === part);
    if (!keyspace) throw new ConfigError(`the argument is one of ${keyspaceNames.join(', ')}, routing-rules`);
    const { MYSQL_URL } = parseConfig(migrateConfig, readEnv());
    for (const statement of shardedSchema(await readPlainSchema(MYSQL_URL))[keyspace])
      process.stdout.write(`${statement};\n`);
  }
} catch (error) {
  process.stderr.write(`vschema: ${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
