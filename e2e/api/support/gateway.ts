import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanUp, compileCache } from '@causeway/runtime/testing';
import type { StackProcess } from '../../../deploy/local/home.ts';
import { freePort } from '../../../deploy/local/ports.ts';
import { runService } from '../../../deploy/local/supervisor.ts';
import type { World } from './open.ts';

/**
 * Starts an additional gateway of the cluster, with settings of its own. It stops with the test or file that started
 * it.
 */
export const startGateway = async (
  world: World,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly logFile: string; readonly process: StackProcess }> => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-gateway-'));
  const logFile = join(folder, 'gateway.log');
  const port = await freePort();
  const run = await runService({
    name,
    entry: resolve(import.meta.dirname, '../../../services/gateway/main.ts'),
    env: {
      PATH: process.env.PATH,
      ...compileCache,
      INSTANCE: name,
      NATS_URL: world.stack().natsUrl,
      AGENTS_URL: world.stack().agentsUrl,
      HOST: '127.0.0.1',
      PORT: String(port),
      ...env,
    },
    logFile,
  });
  cleanUp(async () => {
    await run.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const metricsUrl = await run.ready;
  return { url: `http://127.0.0.1:${port}`, logFile, process: { name, pid: run.pid, metricsUrl } };
};
