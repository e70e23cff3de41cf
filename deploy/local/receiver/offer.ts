import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isPortFree } from '../ports.ts';
import { type Run, runService } from '../supervisor.ts';

interface OfferedReceiver {
  readonly url: string;
  launch(): Promise<Run>;
}

/** Keeps its port across starts of a home unless it is taken, because subscriptions to it are kept too. */
export const offerReceiver = async ({ root, home, host, env }: ReceiverPlace): Promise<OfferedReceiver> => {
  const port = await portOf(join(home, 'receiver.port'), host);
  return {
    url: `http://${host}:${port}/`,
    launch: () =>
      runService({
        name: 'receiver',
        entry: join(root, 'deploy', 'local', 'receiver', 'main.ts'),
        args: ['--port', String(port)],
        env,
        logFile: join(home, 'logs', 'receiver.log'),
      }),
  };
};

const portOf = async (file: string, host: string): Promise<number> => {
  const known = read(file);
  if (known > 0 && (await isPortFree(known, host))) return known;
  const port = await freePort();
  writeFileSync(file, `${port}\n`, { mode: 0o600 });
  return port;
};

const read = (file: string): number => {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
};

interface ReceiverPlace {
  readonly root: string;
  readonly home: string;
  readonly host: string;
  readonly env: NodeJS.ProcessEnv;
}
