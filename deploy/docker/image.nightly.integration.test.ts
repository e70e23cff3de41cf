import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cleanUp, provided, testNats, testProcess, withDatabase } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { imageWorkspaces, packagesOf } from '../dependencies/licences.ts';
import { buildServices } from '../local/builds.ts';
import { terminalReport } from '../local/report.ts';
import { mysqlServices } from '../mysql/privileges.ts';
import { authorization, natsUsers } from '../nats/permissions.ts';
import { passwordVariable } from '../nats/production/users.ts';
import { required } from '../settings/testing/readers.ts';
import { compose, interpolate } from './testing/compose.ts';
import { contextOf, filesOf, readStages, root } from './testing/dockerfile.ts';

const dockerfile = 'deploy/docker/services.Dockerfile';

const copyStages = (stages: ReturnType<typeof readStages>): string => {
  const app = mkdtempSync(join(tmpdir(), 'causeway-image-'));
  cleanUp(() => rmSync(app, { recursive: true, force: true }));
  const context = contextOf(dockerfile);
  for (const [to, from] of stages.flatMap((stage) => [...filesOf(stage, context)])) {
    mkdirSync(join(app, dirname(to)), { recursive: true });
    cpSync(join(root, from), join(app, to));
  }
  return app;
};

const layOut = (): string => {
  const app = copyStages(readStages(dockerfile));
  const otherBinary = (file: string): boolean =>
    /\/uws_[^/]+\.node$/.test(file) && !file.endsWith(`_${process.arch}_${process.versions.modules}.node`);
  for (const { name } of packagesOf('causeway/services')) {
    const place = join('node_modules', name);
    cpSync(join(root, place), join(app, place), { recursive: true, filter: (file) => !otherBinary(file) });
  }
  cpSync(join(root, 'services/dist'), join(app, 'services/dist'), { recursive: true });
  mkdirSync(join(app, 'node_modules/@causeway'));
  for (const workspace of imageWorkspaces['causeway/services']) {
    symlinkSync(
      join(app, workspace),
      join(app, 'node_modules/@causeway', workspace.replace('services/', '')),
    );
  }
  return app;
};

const makeCertificate = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-certificate-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const script = readFileSync(join(root, 'deploy/one-machine.sh'), 'utf8');
  const [command = ''] = /openssl req -x509[^`]*?nats\.crt/.exec(script) ?? [];
  const here = command.replace('DNS:nats', 'DNS:localhost').replaceAll('tls/', '');
  execFileSync('sh', ['-euc', here], { cwd: folder, stdio: 'pipe' });
  return folder;
};

await buildServices(root, terminalReport);
const app = layOut();
const natsPassword = (user: string): string => `password-of-${user}`;
const certificates = makeCertificate();
const nats = await testNats({
  tls: { cert_file: join(certificates, 'nats.crt'), key_file: join(certificates, 'nats.key') },
  authorization: authorization(natsUsers((secret) => natsPassword(secret.replace('nats ', '')))),
});
const database = `image_${randomBytes(6).toString('hex')}`;
const mysqlUrl = withDatabase(provided('mysqlUrl'), database);
const mysqlUsers = [...mysqlServices, 'monitor'] as const;
const mysqlPasswords = Object.fromEntries(
  mysqlUsers.map((name) => [`MYSQL_PASSWORD_${name.toUpperCase()}`, `mysql-of-${name}`]),
);

/** The compose file's script for a new volume, with the function that the image's entry point provides. */
const makeMysqlUsers = async (): Promise<void> => {
  const script = join(root, 'deploy/mysql/users.sh');
  const { stdout } = spawnSync('sh', ['-euc', `docker_process_sql() { cat; }; . ${script}`], {
    encoding: 'utf8',
    env: { ...mysqlPasswords, MYSQL_DATABASE: database, MYSQL_USER: 'causeway' },
  });
  const connection = await createConnection({ uri: provided('mysqlUrl'), multipleStatements: true });
  cleanUp(async () => {
    await connection.query('DROP DATABASE IF EXISTS ??', [database]);
    for (const name of mysqlUsers) await connection.query("DROP USER ?@'%'", [`causeway_${name}`]);
    await connection.end();
  });
  await connection.query(stdout);
};

const environmentOf = (name: string): NodeJS.ProcessEnv => {
  const passwords = natsUsers(() => '').map((user) => [passwordVariable(user.name), natsPassword(user.name)]);
  const secrets = {
    ...required,
    MYSQL_PASSWORD: 'unused',
    ...mysqlPasswords,
    ...Object.fromEntries(passwords),
  };
  const given = Object.entries(compose.services[name]?.environment ?? {});
  const env = Object.fromEntries(given.map(([variable, value]) => [variable, interpolate(value, secrets)]));
  if (env.NATS_URL) env.NATS_URL = env.NATS_URL.replace('nats:4222', `localhost:${new URL(nats.url).port}`);
  if (env.NATS_CA_FILE) env.NATS_CA_FILE = join(certificates, 'nats.crt');
  if (env.MYSQL_URL) env.MYSQL_URL = onThisMachine(new URL(env.MYSQL_URL));
  for (const variable of ['METRICS_PORT', 'PORT']) if (env[variable]) env[variable] = '0';
  for (const variable of ['METRICS_HOST', 'HOST']) if (env[variable]) env[variable] = '127.0.0.1';
  return env;
};

/** The same entry for the MySQL of this run, whose administrator acts as the migrations' user. */
const onThisMachine = ({ username, password, search }: URL): string => {
  const url = new URL(mysqlUrl);
  if (username !== 'causeway') [url.username, url.password] = [username, password];
  return `${url.href}${search}`;
};

const commandOf = (name: string): string => join(app, compose.services[name]!.command![0]!);

const start = (name: string) =>
  testProcess({
    entry: commandOf(name),
    cwd: app,
    // Its modules are in a folder of this run alone, so no later run would use what the cache keeps of them.
    env: { NODE_COMPILE_CACHE: undefined, PATH: process.env.PATH, ...environmentOf(name) },
  });

test('every service becomes ready with the image and the settings of the compose file, and stops on SIGTERM', async () => {
  await makeMysqlUsers();
  const migrated = spawnSync(process.execPath, [commandOf('migrate')], {
    env: environmentOf('migrate'),
    encoding: 'utf8',
  });
  expect(migrated.stderr).toBe('');

  const first = ['access', 'crm', 'webhooks'];
  const running = await Promise.all(first.map(start));
  running.push(...(await Promise.all(['dispatcher', 'gateway'].map(start))));
  const ready = await Promise.all(
    running.map(async ({ report }) => (await fetch(`${report.metricsUrl}/readyz`)).text()),
  );
  expect(ready).toEqual(ready.map(() => 'ready\n'));

  const codes = await Promise.all(running.toReversed().map(({ stop }) => stop()));
  expect(codes).toEqual([0, 0, 0, 0, 0]);
});

test('the portal builds from the context of the image, with the command of the image', () => {
  const stages = readStages(dockerfile).filter(({ name }) => name === 'manifests' || name === 'portal');
  const folder = copyStages(stages);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const script = /^RUN node (\S+)$/m.exec(stages.at(-1)!.text)?.[1] ?? '';
  const { stdout, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
  expect(`${stdout}${stderr}`).toMatch(/The portal is built/);
  // The folder whose files the gateway allows to be cached forever.
  expect(readFileSync(join(folder, 'admin-ui/dist/index.html'), 'utf8')).toMatch(/src="\/portal\/assets\//);
});
