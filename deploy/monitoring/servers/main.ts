import { parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { serversConfig } from './config.ts';
import { watchServers } from './watch.ts';

await runProcess(
  'servers',
  () => parseConfig(serversConfig, readEnv()),
  async ({ log, metrics, onStop }, config) => {
    const watch = watchServers({
      natsUrls: config.NATS_MONITOR_URLS,
      mysqlUrls: config.MYSQL_URL,
      backup: config.BACKUP,
      paths: config.DISK_PATHS,
      pauseMs: 10_000,
      nowMs: () => Date.now(),
      log,
      metrics,
    });
    onStop('watch', () => watch.stop());
  },
);
