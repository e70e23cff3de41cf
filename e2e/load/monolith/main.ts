import { createLog, parseConfig, readEnv } from '@causeway/runtime';
import { monolithConfig } from './config.ts';
import { startMonolith } from './server.ts';

const config = parseConfig(monolithConfig, readEnv());
const { log, flush } = createLog({ name: 'monolith', instance: 'monolith', level: config.LOG_LEVEL });
const monolith = await startMonolith(config, log);
process.once('SIGTERM', async () => {
  await monolith.close();
  flush();
  process.exit(0);
});
process.send?.({ type: 'ready', url: monolith.url });
