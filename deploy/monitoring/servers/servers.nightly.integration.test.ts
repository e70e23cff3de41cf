import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics, readEnv } from '@causeway/runtime';
import { cleanUp, provided, startProgram } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startMysql } from '../../local/mysql.ts';
import { freePorts } from '../../local/ports.ts';
import { readToolchain } from '../../local/toolchain.ts';
import { watchServers } from './watch.ts';

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-servers-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
};

const watch = (asked: Partial<Parameters<typeof watchServers>[0]>) => {
  const metrics = createMetrics();
  const watching = watchServers({
    natsUrls: [],
    mysqlUrls: [],
    backup: undefined,
    paths: [],
    pauseMs: 50,
    nowMs: () => Date.now(),
    log: pino({ level: 'silent' }),
    metrics,
    ...asked,
  });
  cleanUp(() => watching.stop());
  return () => metrics.registry.metrics();
};

test('three NATS servers report their leader, missing peers and stores; a dead one is noticed by the leader', {
  timeout: 120_000,
}, async () => {
  const ports = await freePorts(9);
  const routes = [0, 1, 2].map((at) => `nats-route://127.0.0.1:${ports[at * 3 + 1]}`).join(',');
  const ends = [0, 1, 2].map((at) => {
    const folder = temporary();
    const [client, route, monitor] = ports.slice(at * 3) as [number, number, number];
    writeFileSync(
      join(folder, 'nats.conf'),
      `listen: "127.0.0.1:${client}"\nhttp: "127.0.0.1:${monitor}"\nserver_name: n${at}
jetstream { store_dir: "${folder}/js", max_memory_store: 64MB, max_file_store: 64MB }
cluster { name: c, listen: "127.0.0.1:${route}", routes: [${routes.split(',').map((url) => `"${url}"`)}] }\n`,
    );
    const { end } = startProgram(provided('natsServer'), ['--config', join(folder, 'nats.conf')], {
      stdio: 'ignore',
    });
    cleanUp(async () => void (await end('SIGKILL')));
    return end;
  });
  const read = watch({ natsUrls: [0, 1, 2].map((at) => `http://127.0.0.1:${ports[at * 3 + 2]}`) });
  const values = async (name: string) =>
    [...(await read()).matchAll(new RegExp(`^${name}\\{[^}]*\\} (.*)$`, 'gm'))].map(([, value]) =>
      Number(value),
    );
  await expect.poll(() => values('nats_peers_missing')).toEqual([0]);
  await expect.poll(() => values('nats_leader_known')).toEqual([1, 1, 1]);
  expect(await values('server_up')).toEqual([1, 1, 1]);
  expect(await values('nats_store_ratio')).toHaveLength(6);
  await ends[2]!('SIGKILL');
  await expect.poll(() => values('nats_peers_missing')).toContain(1);
});

const { mysqld } = readToolchain(readEnv());

const monitorStatements = (password: string): readonly string[] => {
  const guide = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const create = /CREATE USER causeway_\$service@'%' .*?(?=;)/.exec(guide)?.[0] ?? '';
  const grant = /GRANT .* TO causeway_monitor@'%'(?=;)/.exec(guide)?.[0] ?? '';
  return [create.replace('$service', 'monitor').replace(/'\$\(.*?\)'/, `'${password}'`), grant];
};

test.runIf(mysqld)(
  'MySQL reports its certificate, a replica its state, and the copy of the binary log is compared',
  {
    timeout: 120_000,
  },
  async () => {
    const server = await startMysql({ home: temporary(), program: mysqld! });
    cleanUp(() => server.stop());
    const connection = await createConnection(server.url);
    cleanUp(() => connection.end());
    const backup = temporary();
    let nowMs = Date.now();
    for (const statement of monitorStatements('secret')) await connection.query(statement);
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = ['causeway_monitor', 'secret', '/causeway'];
    const read = watch({ mysqlUrls: [`${url.href}?tls=encrypt`], backup, nowMs: () => nowMs });
    const behind = async () =>
      Number(/^backup_binlog_behind_seconds (.*)$/m.exec(await read())?.[1] ?? Number.NaN);
    await expect.poll(() => read()).toMatch(/^server_up\{[^}]*\} 1$/m);
    // The server made its own certificate, valid for ten years.
    expect(await read()).toMatch(/^server_certificate_seconds\{[^}]*\} 31\d{7}/m);
    expect(await read()).not.toMatch(/^mysql_replica_running\{/m);
    expect(await read()).not.toMatch(/^backup_age_seconds /m);
    nowMs += 600_000;
    expect(await behind()).toBeGreaterThanOrEqual(600);

    const [[status]] = (await connection.query('SHOW BINARY LOG STATUS')) as unknown as [
      [{ File: string; Position: number }],
    ];
    writeFileSync(join(backup, status.File), Buffer.alloc(status.Position));
    const dump = join(backup, '20260301T000000Z.sql.gz');
    writeFileSync(dump, '');
    utimesSync(dump, new Date(), new Date(nowMs - 3_600_000));
    await expect.poll(() => behind()).toBeLessThan(1);
    await expect.poll(() => read()).toMatch(/^backup_age_seconds 3600/m);
    await connection.query('CREATE TABLE causeway_test_more (id INT)');
    await expect
      .poll(() => {
        nowMs += 1_000;
        return behind();
      })
      .toBeGreaterThan(10);

    await connection.query("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1");
    await expect.poll(() => read()).toMatch(/^mysql_replica_running\{[^}]*\} 0$/m);
  },
);

test('a disk reports its free share, and one that cannot be read disappears', async () => {
  const read = watch({ paths: [tmpdir(), '/nonexistent'] });
  await expect.poll(() => read()).toMatch(/^disk_free_ratio\{path="\/tmp[^}]*\} 0\.\d+$/m);
  expect(await read()).not.toContain('nonexistent');
});
