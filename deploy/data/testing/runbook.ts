import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseMysqlUrl, readEnv } from '@causeway/runtime';
import { cleanUp, compileCache, startProgram } from '@causeway/runtime/testing';
import { root } from '../../local/testing/open-cluster.ts';
import { providePrograms } from '../../local/toolchain/provide.mjs';
import { commandsOf } from '../../testing/commands.ts';
import { temporary } from './cluster.ts';

interface Runbook {
  run(title: string, variables: Readonly<Record<string, string>>): string;
  /** @param edit what the guide tells the reader to change */
  walk(
    title: string,
    variables: Readonly<Record<string, string>>,
    edit?: (commands: string) => string,
  ): Promise<string>;
  start(title: string, variables: Readonly<Record<string, string>>): ChildProcess;
}

/** @param mysqlUrl the server and database that the commands work on. */
export const openRunbook = async (
  mysqlUrl: string,
  { as, document = 'data/README.md', programs: more = {} }: RunbookOptions = {},
): Promise<Runbook> => {
  const folder = temporary('runbook');
  const { host, port, database, ...own } = parseMysqlUrl(mysqlUrl);
  const { user, password } = as ?? own;
  // In a file, as an administrator would keep it, so that no command contains a password.
  const client = ['[client]', `host=${host}`, `port=${port}`, `user=${user}`, `password=${password}`];
  writeFileSync(join(folder, '.my.cnf'), `${client.join('\n')}\n`, { mode: 0o600 });
  const programs = await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), {
    mysql: 'mysql-client-core',
    mysqldump: 'mysql-client-core',
    mysqlbinlog: 'mysql-server-core',
  });
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const [name, { command, args }] of Object.entries({
    ...programs,
    ...more,
    node: { command: process.execPath, args: [] },
  })) {
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nexec ${[command, ...args].map((word) => `'${word}'`).join(' ')} "$@"\n`,
    );
    chmodSync(join(bin, name), 0o755);
  }
  const options = (variables: Readonly<Record<string, string>>) => ({
    cwd: root,
    env: {
      PATH: `${bin}:/usr/bin:/bin`,
      HOME: folder,
      ...compileCache,
      MYSQL_URL: mysqlUrl,
      DATABASE: database,
      ...variables,
    },
  });
  return {
    run: (title, variables) => {
      const { status, stdout, stderr } = spawnSync('bash', ['-c', commandsOf(document, title)], {
        ...options(variables),
        encoding: 'utf8',
      });
      if (status !== 0 || stderr !== '') throw new Error(`${title}: ${status}\n${stdout}\n${stderr}`);
      return stdout;
    },
    walk: async (title, variables, edit = (commands) => commands) => {
      const child = spawn('bash', ['-c', edit(commandsOf(document, title))], {
        ...options(variables),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [[status], stdout, stderr] = await Promise.all([
        once(child, 'exit'),
        text(child.stdout),
        text(child.stderr),
      ]);
      if (status !== 0 || stderr !== '') throw new Error(`${title}: ${status}\n${stdout}\n${stderr}`);
      return stdout;
    },
    start: (title, variables) => {
      const { child, end } = startProgram('bash', ['-c', commandsOf(document, title)], {
        ...options(variables),
        stdio: 'inherit',
      });
      cleanUp(async () => void (await end('SIGKILL')));
      return child;
    },
  };
};

interface RunbookOptions {
  readonly as?: { readonly user: string; readonly password: string };
  readonly document?: string;
  readonly programs?: Readonly<
    Record<string, { readonly command: string; readonly args: readonly string[] }>
  >;
}

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

export const statementsWith = (beginning: string, password: string): readonly string[] => {
  const block = new RegExp(`\n\`\`\`sql\n(${beginning}[^]*?)\`\`\``).exec(readme)?.[1];
  if (block === undefined) throw new Error(`README.md has no statements that begin with ${beginning}`);
  return block.replace('…', password).trim().split('\n');
};
