import { join } from 'node:path';
import { freePort } from '../../../deploy/local/ports.ts';
import type { Program } from '../../../deploy/local/toolchain.ts';
import { type BenchContext, startChild } from '../driver.ts';

interface MonolithOptions {
  readonly home: string;
  readonly redis: Program;
  readonly env: NodeJS.ProcessEnv;
  readonly onEnd: BenchContext['onEnd'];
  readonly port?: number;
}

/** Starts the monolith and its Redis; both end with the bench. */
export const startMonolith = async ({
  home,
  redis,
  env,
  onEnd,
  port: asked,
}: MonolithOptions): Promise<{ readonly url: string; readonly pid: number; readonly redisPid: number }> => {
  const redisPort = await freePort();
  const redisServer = await startChild({
    name: 'Redis',
    command: redis.command,
    // Without persistence, for the fastest possible Redis.
    args: [
      ...redis.args,
      '--bind',
      '127.0.0.1',
      '--port',
      `${redisPort}`,
      '--save',
      '',
      '--appendonly',
      'no',
    ],
    logFile: join(home, 'logs', 'redis.log'),
  });
  onEnd(() => redisServer.stop());
  const port = asked ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const monolith = await startChild({
    name: 'the monolith',
    command: process.execPath,
    args: [join(import.meta.dirname, 'main.ts')],
    env: { ...env, REDIS_URL: `redis://127.0.0.1:${redisPort}`, PORT: `${port}` },
    logFile: join(home, 'logs', 'monolith.log'),
  });
  onEnd(() => monolith.stop());
  await monolith.until(() =>
    fetch(url).then(
      () => true as const,
      () => undefined,
    ),
  );
  return { url, pid: monolith.pid, redisPid: redisServer.pid };
};
