import { parseArgs } from 'node:util';
import { ConfigError, parseConfig, readEnv } from '@causeway/runtime';
import { migrateConfig } from '../../migrate/config.ts';
import { MoveAheadError, moveAhead } from './move-ahead.ts';

// Moves ids and sequences of a restored database ahead: see ../README.md. Exits 78 for an invalid option.

/** Enough for a thousand events a second over almost three hours. */
const defaultAhead = '10000000';

try {
  const { MYSQL_URL } = parseConfig(migrateConfig, readEnv());
  const { values } = parseArgs({ options: { ahead: { type: 'string', default: defaultAhead } } });
  if (!/^[1-9]\d{0,14}$/.test(values.ahead)) throw new ConfigError('--ahead takes a positive whole number');
  const { nextIds, companies, ended } = await moveAhead(MYSQL_URL, Number(values.ahead));
  for (const [table, id] of Object.entries(nextIds))
    process.stdout.write(`${table} continues with id ${id}\n`);
  process.stdout.write(`events of ${companies} companies skip ${values.ahead} numbers\n`);
  for (const [table, rows] of Object.entries(ended)) process.stdout.write(`${table}: ${rows} ended\n`);
} catch (error) {
  const known = error instanceof ConfigError || error instanceof MoveAheadError;
  process.stderr.write(`restored: ${known ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
