import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl, readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { temporary } from './data/testing/cluster.ts';
import { composeText } from './docker/testing/compose.ts';
import { startMysql } from './local/mysql.ts';
import { providePrograms } from './local/toolchain/provide.mjs';
import { readToolchain } from './local/toolchain.ts';

// Every command runs as it is, on a real MySQL. `docker` is a stand-in: what it would run in MySQL's container it runs here, and it
// notes the rest.

const script = resolve(import.meta.dirname, 'one-machine.sh');
const { mysqld } = readToolchain(readEnv());

// Dumps' names and the moment of a restore are precise to the second.
const nextSecond = () => sleep(1_100);

const openMachine = async () => {
  const home = temporary('one-machine');
  const server = await startMysql({ home, program: mysqld! });
  cleanUp(() => server.stop());
  const { host, port, user, password } = parseMysqlUrl(server.url);
  const programs = await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), {
    mysql: 'mysql-client-core',
    mysqldump: 'mysql-client-core',
    mysqlbinlog: 'mysql-server-core',
  });
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const install = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const [name, { command, args }] of Object.entries(programs))
    install(
      name,
      // The administrator has another name here.
      `exec ${[command, ...args].map((word) => `'${word}'`).join(' ')} "\${@/--user=root/--user=${user}}"`,
    );
  install(
    'docker',
    `echo "$*" | head -n 1 >> '${home}/docker.log'
if [ "$1 $2" = 'compose exec' ]; then
  shift 3
  while [ "$1" = --env ]; do export "$2"; shift 2; done
  shift
  exec "$@"
fi`,
  );
  writeFileSync(
    join(home, '.my.cnf'),
    `[client]\nhost=${host}\nport=${port}\nuser=${user}\npassword=${password}\n`,
    { mode: 0o600 },
  );
  const folder = join(home, 'deploy');
  const backup = join(folder, 'backup');
  mkdirSync(folder);
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync('bash', [script, ...args], {
      encoding: 'utf8',
      env: {
        PATH: `${bin}:/usr/bin:/bin`,
        HOME: home,
        DEPLOY: folder,
        BACKUP: backup,
        METRICS: home,
        MYSQL_ROOT_PASSWORD: password ?? '',
      },
    });
    return { status, output: stdout + stderr };
  };
  const connection = await createConnection(server.url);
  cleanUp(() => connection.end());
  const sql = async (text: string) => (await connection.query<RowDataPacket[]>(text))[0];
  const asked = () => readFileSync(join(home, 'docker.log'), 'utf8').trim().split('\n');
  const settings = () =>
    Object.fromEntries(
      readFileSync(join(folder, '.env'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    ) as Record<string, string>;
  return { run, sql, asked, settings, backup };
};

test.runIf(mysqld)(
  'install, back up, restore to a moment, upgrade, roll back, rotate',
  { timeout: 300_000 },
  async () => {
    const { run, sql, asked, settings, backup } = await openMachine();
    const done = (...args: readonly string[]) => {
      const { status, output } = run(...args);
      expect([args[0], status, output]).toEqual([args[0], 0, '']);
    };

    done('install');
    const required = [...new Set([...composeText.matchAll(/\$\{([A-Z_]+):\?\}/g)].map((match) => match[1]!))];
    expect(Object.keys(settings()).sort()).toEqual(required.sort());
    const before = settings();
    done('install');
    expect(settings()).toEqual(before);
    expect(asked().slice(0, 2)).toEqual(['compose build', 'compose up --detach']);

    await sql('DROP DATABASE IF EXISTS causeway');
    await sql('CREATE DATABASE causeway');
    await sql('CREATE TABLE causeway.facts (id INT PRIMARY KEY, name VARCHAR(99))');
    await sql("INSERT INTO causeway.facts VALUES (1, 'before the dump')");
    for (const name of ['access', 'crm', 'webhooks', 'dispatcher'])
      await sql(`CREATE USER causeway_${name}@'%' IDENTIFIED BY 'the first one'`);
    done('backup');
    const dumps = () => readdirSync(backup).filter((name) => name.endsWith('.sql.gz'));
    expect(dumps()).toHaveLength(1);
    await nextSecond();
    await sql("INSERT INTO causeway.facts VALUES (2, 'Zoë after the dump 🦦')");
    done('backup');
    expect(dumps()).toHaveLength(1);
    await nextSecond();
    const [{ moment }] = (await sql(
      "SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:%i:%s') AS moment",
    )) as [{ moment: string }];
    await nextSecond();
    await sql('DELETE FROM causeway.facts');

    expect(run('restore', '2020-01-01 00:00:00')).toMatchObject({
      status: 1,
      output: expect.stringContaining('no backup before'),
    });
    expect(await sql('SELECT * FROM causeway.facts')).toEqual([]);
    done('restore', moment);
    expect((await sql('SELECT * FROM causeway.facts')).map((row) => ({ ...row }))).toEqual([
      { id: 1, name: 'before the dump' },
      { id: 2, name: 'Zoë after the dump 🦦' },
    ]);
    expect(
      asked()
        .filter((line) => !line.includes('exec'))
        .slice(-4),
    ).toEqual([
      'compose stop access crm webhooks dispatcher agents gateway',
      'compose run --rm migrate deploy/migrate/main.ts',
      'compose run --rm migrate deploy/data/restored/main.ts',
      'compose up --detach',
    ]);
    // Of what was restored.
    expect(dumps()).toHaveLength(1);

    done('upgrade');
    expect(asked()).toContain('tag causeway/services:local causeway/services:before');
    done('rollback');
    done('rotate');
    const after = settings();
    for (const name of required.filter((name) => /PASSWORD_(ACCESS|CRM|WEBHOOKS|DISPATCHER)$/.test(name)))
      expect(after[name]).not.toBe(before[name]);
    expect(after.WEBHOOKS_SECRET_KEYS).toBe(before.WEBHOOKS_SECRET_KEYS);
    const [{ twice }] = (await sql(
      "SELECT COUNT(*) AS twice FROM mysql.user WHERE user LIKE 'causeway%' AND JSON_EXTRACT(user_attributes, '$.additional_password') IS NOT NULL",
    )) as [{ twice: number }];
    expect(twice).toBe(0);
    expect(run('destroy').status).toBe(2);
  },
);
