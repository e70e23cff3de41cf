import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isPortFree } from '../ports.ts';
import { type Run, runService } from '../supervisor.ts';

interface OfferedProgram {
  readonly name: string;
  readonly url: string;
  launch(): Promise<Run>;
}

/**
 * The webhook receiver, or the inbox of mails. Keeps its port across starts of a home unless it is taken, because
 * subscriptions to it are kept too.
 */
export const offerProgram = async (
  name: 'receiver' | 'inbox',
  { root, home, host, env }: ProgramPlace,
  more: readonly string[] = [],
): Promise<OfferedProgram> => {
  const port = await portOf(join(home, `${name}.port`), host);
  return {
    name,
    url: `http://${host}:${port}/`,
    launch: () =>
      runService({
        name,
        entry: join(root, 'deploy', 'local', name, 'main.ts'),
        args: ['--port', String(port), ...more],
        env,
        logFile: join(home, 'logs', `${name}.log`),
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

interface ProgramPlace {
  readonly root: string;
  readonly home: string;
  readonly host: string;
  readonly env: NodeJS.ProcessEnv;
}
