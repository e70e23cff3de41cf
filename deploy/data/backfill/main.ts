import { parseArgs } from 'node:util';
import { ConfigError, parseConfig, readEnv } from '@causeway/runtime';
import { migrateConfig } from '../../migrate/config.ts';
import { backfill } from './backfill.ts';

// Backfills a column that a migration has added: see ../README.md. Exits 78 for an invalid setting or option.

try {
  const { MYSQL_URL } = parseConfig(migrateConfig, readEnv());
  const { values } = parseArgs({
    options: {
      table: { type: 'string' },
      set: { type: 'string' },
      where: { type: 'string' },
      'chunk-rows': { type: 'string', default: '500' },
      'pause-ms': { type: 'string', default: '20' },
    },
  });
  const { table, set, where } = values;
  if (!table || !set || !where) throw new ConfigError('--table, --set and --where are required');
  let shownMs = performance.now();
  const changed = await backfill(MYSQL_URL, {
    table,
    set,
    where,
    chunkRows: Number(values['chunk-rows']),
    pauseMs: Number(values['pause-ms']),
    onChunk: (looked, changedSoFar) => {
      if (performance.now() - shownMs < 5_000) return;
      shownMs = performance.now();
      process.stdout.write(`${looked} rows looked at, ${changedSoFar} changed\n`);
    },
  });
  process.stdout.write(`${changed} rows changed\n`);
} catch (error) {
  process.stderr.write(`backfill: ${(error as Error).message}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
