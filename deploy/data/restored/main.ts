import { parseArgs } from 'node:util';
import { ConfigError, parseConfig, readEnv } from '@causeway/runtime';
import { migrateConfig } from '../../migrate/config.ts';
import { MoveAheadError, moveAhead } from './move-ahead.ts';

// Makes a restored database fit to be worked on, before any service is started on it: see ../README.md. Exits 78
// (EX_CONFIG) for a wrong configuration or option, 1 where it could not be done; then nothing is lost by trying again.

/** A thousand events a second for almost three hours. */
const defaultAhead = '10000000';

try {
  const { MYSQL_URL } = parseConfig(migrateConfig, readEnv());
  const { values } = parseArgs({ options: { ahead: { type: 'string', default: defaultAhead } } });
  if (!/^[1-9]\d{0,14}$/.test(values.ahead)) throw new ConfigError('--ahead takes a positive whole number');
  const { nextIds, companies, ended } = await moveAhead(MYSQL_URL, Number(values.ahead));
  for (const [table, id] of Object.entries(nextIds)) process.stdout.write(`${table} goes on with ${id}\n`);
  process.stdout.write(`events of ${companies} companies go on ${values.ahead} further\n`);
  for (const [table, rows] of Object.entries(ended)) process.stdout.write(`${table}: ${rows} ended\n`);
} catch (error) {
  const known = error instanceof ConfigError || error instanceof MoveAheadError;
  process.stderr.write(`restored: ${known ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
