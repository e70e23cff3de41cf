import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp, provided, startProgram } from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { temporary } from '../data/testing/cluster.ts';
import { openRunbook } from '../data/testing/runbook.ts';
import { startMysql } from '../local/mysql.ts';
import { freePorts } from '../local/ports.ts';
import { providePrograms } from '../local/toolchain/provide.mjs';
import { readToolchain } from '../local/toolchain.ts';

// The exporters of compose and of the manifests, from Debian, with their settings. It has no exporter of NATS and no kubelet.

const names = ['mysqld', 'node', 'blackbox'].map((name) => `prometheus-${name}-exporter`);
const programs = await providePrograms(
  dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''),
  Object.fromEntries(names.map((name) => [name, name])),
);
const { mysqld } = readToolchain(readEnv());
const component = join(import.meta.dirname, '../k8s/components/prometheus-operator');

const run = (name: string, port: number, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const { command, args: before } = programs[`prometheus-${name}-exporter`]!;
  const { end } = startProgram(command, [...before, `--web.listen-address=127.0.0.1:${port}`, ...args], {
    stdio: 'ignore',
    env,
  });
  cleanUp(async () => void (await end('SIGKILL')));
  return async (path = '/metrics') => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
};

const monitorStatements = (password: string): readonly string[] => {
  const guide = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const create = /CREATE USER causeway_\$service@'%' .*?(?=;)/.exec(guide)?.[0] ?? '';
  const grant = /GRANT .* TO causeway_monitor@'%'(?=;)/.exec(guide)?.[0] ?? '';
  return [create.replace('$service', 'monitor').replace(/'\$\(.*?\)'/, `'${password}'`), grant];
};

test.runIf(mysqld)('exporters report every series that the rules ask them for', async () => {
  const folder = temporary('exporters');
  const [key, certificate] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=here';
  const forHere = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate];
  spawnSync('openssl', [...request.split(' '), ...forHere]);
  const ports = (await freePorts(4)) as [number, number, number, number];
  const server = await startMysql({ home: join(folder, 'mysql'), program: mysqld! });
  cleanUp(() => server.stop());
  const connection = await createConnection(server.url);
  cleanUp(() => connection.end());
  for (const statement of monitorStatements('secret')) await connection.query(statement);
  await connection.query("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1");
  const user = ['--mysqld.username=causeway_monitor', `--mysqld.address=127.0.0.1:${server.port}`];
  const mysql = run('mysqld', ports[0], [...user, '--tls.insecure-skip-verify'], {
    MYSQLD_EXPORTER_PASSWORD: 'secret',
  });

  const backup = join(folder, 'backup');
  const runbook = await openRunbook(server.url);
  mkdirSync(backup);
  const written = new Date(Date.now() - 3_600_000);
  writeFileSync(join(backup, '20260301T000000Z.sql.gz'), '');
  utimesSync(join(backup, '20260301T000000Z.sql.gz'), written, written);
  const watch = () => runbook.run('Watch the backup', { BACKUP: backup });
  const disks = run('node', ports[1], [
    '--collector.disable-defaults',
    '--collector.filesystem',
    '--collector.textfile',
    `--collector.textfile.directory=${backup}`,
  ]);

  const nats = join(folder, 'nats.conf');
  writeFileSync(
    nats,
    `listen: "127.0.0.1:${ports[2]}"\ntls { cert_file: "${certificate}", key_file: "${key}" }\n`,
  );
  const { end } = startProgram(provided('natsServer'), ['--config', nats], { stdio: 'ignore' });
  cleanUp(async () => void (await end('SIGKILL')));
  const blackbox = join(folder, 'blackbox.yaml');
  const settings = readFileSync(join(component, 'blackbox.yaml'), 'utf8');
  writeFileSync(blackbox, settings.replace('/etc/causeway/nats/ca.crt', certificate));
  const probe = run('blackbox', ports[3], [`--config.file=${blackbox}`]);

  watch();
  const read = async () =>
    (await Promise.all([mysql(), disks(), probe(`/probe?module=nats&target=127.0.0.1:${ports[2]}`)])).join(
      '\n',
    );
  const rules = readFileSync(join(import.meta.dirname, 'rules.yaml'), 'utf8');
  const asked =
    rules.slice(rules.indexOf('name: servers')).match(/\b(?:mysql|probe|node|causeway)_\w+/g) ?? [];
  expect(asked.length).toBeGreaterThan(9);
  // A replica that has never run has no lag.
  const reported = asked.filter((name) => !name.endsWith('seconds_behind_source'));
  await expect
    .poll(async () => {
      const text = await read();
      return reported.filter((name) => !new RegExp(`^${name}[{ ]`, 'm').test(text));
    })
    .toEqual([]);
  const value = async (name: string) =>
    Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(await read())?.[1]);
  expect(await value('mysql_up')).toBe(1);
  expect(await value('mysql_slave_status_replica_io_running')).toBe(0);
  // The server made its own certificate, valid for ten years.
  expect((await value('mysql_global_status_ssl_server_not_after')) - Date.now() / 1000).toBeGreaterThan(3e8);
  const daysLeft = ((await value('probe_ssl_earliest_cert_expiry')) - Date.now() / 1000) / 86_400;
  expect(Math.round(daysLeft)).toBe(9);
  expect(await value('causeway_backup_timestamp_seconds')).toBe(Math.floor(written.getTime() / 1000));

  // What MySQL had written at the pass before must have been copied by now.
  const past = new Date(Date.now() - 600_000);
  const aged = async (): Promise<number> => {
    utimesSync(join(backup, '.copied'), past, past);
    watch();
    return Date.now() / 1000 - (await value('causeway_binlog_copied_timestamp_seconds'));
  };
  expect(await aged()).toBeGreaterThan(500);
  const [[status]] = await connection.query<RowDataPacket[]>('SHOW BINARY LOG STATUS');
  writeFileSync(join(backup, status!.File), Buffer.alloc(status!.Position));
  expect(await aged()).toBeLessThan(300);
  await connection.query('CREATE TABLE more (id INT)');
  watch();
  expect(await aged()).toBeGreaterThan(500);
  writeFileSync(join(backup, 'binlog.999999'), '');
  expect(await aged()).toBeLessThan(300);
});
