import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from './cleanup.ts';
import { startProgram, type TestProgram } from './program.ts';
import { provided } from './provided.ts';

export interface TestNats {
  readonly url: string;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** On the same port with the same store. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): Promise<void>;
  resume(): void;
  wipe(): Promise<void>;
}

/** It places streams once its servers have found each other. */
export const testNatsCluster = async (count: number): Promise<readonly TestNats[]> => {
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  return Promise.all(
    ports.map((port, at) => {
      const name = `nats-${at + 1}`;
      const routes = ports
        .filter((other) => other !== port)
        .map((other) => `nats-route://127.0.0.1:${other}`);
      return testNats({
        server_name: name,
        server_tags: [name],
        cluster: { name: 'test', listen: `127.0.0.1:${port}`, routes, no_advertise: true },
      });
    }),
  );
};

/** @param config more of the server's configuration, such as `authorization`, as JSON. */
export const testNats = async (config: Readonly<Record<string, unknown>> = {}): Promise<TestNats> => {
  const program = provided('natsServer');
  const home = await mkdtemp(join(provided('scratch'), 'causeway-test-nats-'));
  const configFile = join(home, 'nats.conf');
  const logFile = join(home, 'nats.log');
  let server: TestProgram | undefined;
  let port = 0;

  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const ending = server;
    server = undefined;
    // While it hangs it would not act on SIGTERM; SIGKILL ends it without another answer.
    if (signal === 'SIGTERM') ending?.child.kill('SIGCONT');
    await ending?.end(signal);
  };
  const start = async (): Promise<void> => {
    const settings = {
      listen: `127.0.0.1:${port}`,
      max_payload: 4 * 2 ** 20,
      jetstream: { store_dir: join(home, 'store') },
      log_file: logFile,
      ...config,
    };
    await writeFile(configFile, JSON.stringify(settings));
    // Before it starts, because it may be ready before the log is read.
    const starts = await countStarts(logFile);
    server = startProgram(program, ['--config', configFile], { stdio: 'ignore' });
    await answers(server, port, { logFile, starts: starts + 1 });
  };
  const startSomewhere = async (): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      port = await freePort();
      try {
        return await start();
      } catch (error) {
        // Another process can take the port in between.
        if (attempt === 3) throw error;
      }
    }
  };

  cleanUp(async () => {
    await end('SIGKILL');
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  });
  await startSomewhere();
  return {
    url: `nats://127.0.0.1:${port}`,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGTERM');
      await start();
    },
    pause: async () => {
      server?.child.kill('SIGSTOP');
      while (server?.child.pid && !(await isStopped(server.child.pid))) await sleep(1);
    },
    resume: () => void server?.child.kill('SIGCONT'),
    wipe: () => rm(join(home, 'store'), { recursive: true, force: true, maxRetries: 3 }),
  };
};

const startTimeoutMs = 20_000;

/** It logs that it is ready after JetStream has recovered, which is later than its port opens. */
const answers = async (
  server: TestProgram,
  port: number,
  { logFile, starts }: { readonly logFile: string; readonly starts: number },
): Promise<void> => {
  for (const endMs = Date.now() + startTimeoutMs; ; await sleep(10)) {
    if ((await countStarts(logFile)) >= starts) return;
    if (server.isRunning() && Date.now() < endMs) continue;
    await server.end('SIGKILL');
    const log = await readLog(logFile);
    throw new Error(`nats-server did not start on port ${port}:\n${log.split('\n').slice(-8).join('\n')}`);
  }
};

const countStarts = async (logFile: string): Promise<number> =>
  (await readLog(logFile)).split(ready).length - 1;

const readLog = (logFile: string): Promise<string> => readFile(logFile, 'utf8').catch(() => '');

const ready = 'Server is ready';

/** The signal is sent at once, but each thread stops at its own next chance. */
const isStopped = async (pid: number): Promise<boolean> => {
  const threads = await readdir(`/proc/${pid}/task`);
  const states = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
  );
  return states.every((stat) => stat.slice(stat.lastIndexOf(')') + 2).startsWith('T'));
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject()));
    });
  });
