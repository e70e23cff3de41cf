import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { type Exit, endLeftovers, envIn, type Guarded, spawnGuarded } from './guarded.ts';
import { freePort } from './ports.ts';
import { SetupError } from './setup-error.ts';
import type { MysqldProgram } from './toolchain.ts';

export interface MysqlServer {
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  readonly exited: Promise<Exit>;
  stop(): Promise<void>;
}

export interface MysqlSizes {
  readonly bufferPoolMiB?: number;
  readonly redoLogMiB?: number;
}

export interface MysqlOptions extends MysqlSizes {
  readonly home: string;
  readonly program: MysqldProgram;
  readonly database?: string;
  readonly port?: number;
  /** Vitess requires them. */
  readonly gtids?: boolean;
}

const stopGraceMs = 60_000;
const startTimeoutMs = 120_000;

/** Recovers a home whose last server was killed. @throws SetupError if the disk is full */
export const startMysql = async (options: MysqlOptions): Promise<MysqlServer> => {
  const home = resolve(options.home);
  const paths = layout(home);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  await endLeftovers(home, stopGraceMs);
  if (!existsSync(paths.data)) await initialize(options.program, paths);
  const password = readFileSync(paths.password, 'utf8');
  const database = options.database ?? 'causeway';

  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    clearSocket(paths);
    const logStart = sizeOf(paths.log);
    const server = await spawnGuarded({
      command: options.program.command,
      args: [...baseArguments(options.program, paths), ...serverArguments(options, paths, port)],
      env: envIn(home),
      logFile: paths.log,
    });
    const url = `mysql://causeway:${password}@127.0.0.1:${port}/${database}`;
    if (await answers(server, url)) {
      const stop = async () => {
        await server.stop(stopGraceMs);
        rmSync(paths.socketDir, { recursive: true, force: true });
      };
      return { url, pid: server.pid, port, exited: server.exited, stop };
    }
    const words = complaints(paths.log, logStart);
    if (options.port === undefined && attempt < 3 && /port|bind/i.test(words)) continue;
    throw startError(words, paths);
  }
};

const layout = (home: string) => {
  // A socket path may have at most 107 characters, and MySQL insists on a socket, although nobody here uses it.
  const socketDir = join(
    tmpdir(),
    `causeway-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`,
  );
  return {
    home,
    data: join(home, 'data'),
    log: join(home, 'mysqld.log'),
    password: join(home, 'password'),
    socketDir,
    socket: join(socketDir, 'mysqld.sock'),
  };
};
type Layout = ReturnType<typeof layout>;

/** Aside and then moved, so that an existing data folder is complete. */
const initialize = async (program: MysqldProgram, paths: Layout): Promise<void> => {
  const fresh = join(paths.home, 'data.fresh');
  const statements = join(paths.home, 'first.sql');
  rmSync(fresh, { recursive: true, force: true });
  const password = randomBytes(24).toString('base64url');
  writeFileSync(paths.password, password, { mode: 0o600 });
  const sql = [
    `CREATE USER 'causeway'@'%' IDENTIFIED BY '${password}';`,
    "GRANT ALL ON *.* TO 'causeway'@'%' WITH GRANT OPTION;",
    'CREATE DATABASE causeway;',
    // This kind of initialization leaves root without a password, and nobody needs root.
    "ALTER USER 'root'@'localhost' ACCOUNT LOCK;",
  ];
  writeFileSync(statements, `${sql.join('\n')}\n`, { mode: 0o600 });
  const logStart = sizeOf(paths.log);
  const server = await spawnGuarded({
    command: program.command,
    args: [
      ...baseArguments(program, { ...paths, data: fresh }),
      '--skip-log-bin',
      '--initialize-insecure',
      `--init-file=${statements}`,
    ],
    env: envIn(paths.home),
    logFile: paths.log,
  });
  const { code } = await server.exited;
  rmSync(statements);
  if (code !== 0) throw startError(complaints(paths.log, logStart), paths);
  renameSync(fresh, paths.data);
};

const baseArguments = (program: MysqldProgram, paths: Layout): string[] => [
  ...program.args,
  '--no-defaults',
  ...(program.baseDir === null ? [] : [`--basedir=${program.baseDir}`]),
  ...(program.messagesDir === null ? [] : [`--lc-messages-dir=${program.messagesDir}`]),
  ...(process.getuid?.() === 0 ? ['--user=root'] : []),
  `--datadir=${paths.data}`,
  '--secure-file-priv=NULL',
];

const serverArguments = (options: MysqlOptions, paths: Layout, port: number): string[] => [
  '--bind-address=127.0.0.1',
  `--port=${port}`,
  `--socket=${paths.socket}`,
  '--mysqlx=OFF',
  '--skip-name-resolve',
  '--max-connections=500',
  '--default-time-zone=+00:00',
  '--innodb-flush-log-at-trx-commit=1',
  `--innodb-buffer-pool-size=${options.bufferPoolMiB ?? 256}M`,
  `--innodb-redo-log-capacity=${options.redoLogMiB ?? 100}M`,
  // MySQL's 64 MiB are for transactions larger than any here, and are held at rest too.
  '--innodb-log-buffer-size=8M',
  // Instrumentation that takes 150 MB and a third of a second at each start; SHOW STATUS works without it.
  '--performance-schema=OFF',
  '--log-bin-trust-function-creators=1',
  '--binlog-expire-logs-seconds=259200',
  ...(options.gtids ? ['--gtid-mode=ON', '--enforce-gtid-consistency=ON'] : []),
];

const clearSocket = (paths: Layout): void => {
  rmSync(paths.socketDir, { recursive: true, force: true });
  mkdirSync(paths.socketDir, { mode: 0o700 });
};

const answers = async (server: Guarded, url: string): Promise<boolean> => {
  const admin = new URL(url);
  const database = admin.pathname.slice(1);
  admin.pathname = '/';
  for (const endMs = Date.now() + startTimeoutMs; !server.hasExited(); await sleep(40)) {
    try {
      const connection = await createConnection({ uri: admin.href, connectTimeout: 2000 });
      await connection.query('CREATE DATABASE IF NOT EXISTS ??', [database]);
      await connection.end();
      return !server.hasExited();
    } catch (error) {
      if (Date.now() < endMs) continue;
      await server.stop(0);
      throw error;
    }
  }
  return false;
};

const sizeOf = (file: string): number => (existsSync(file) ? readFileSync(file).length : 0);

const complaints = (log: string, from: number): string =>
  readFileSync(log)
    .subarray(from)
    .toString()
    .split('\n')
    .filter((line) => /\[ERROR\]|error/i.test(line))
    .slice(-6)
    .join('\n');

const startError = (words: string, paths: Layout): Error =>
  /errno: 28|No space left|error 28|disk is full/i.test(words)
    ? new SetupError(
        `MySQL found the disk that holds ${paths.home} full: free some space, or set STACK_HOME to a larger one.`,
      )
    : new Error(`MySQL did not start; its log is ${paths.log}\n${words}`);
