import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { describe, expect, test } from 'vitest';
import { passwordVariable, userNames } from '../nats/production/users.ts';
import { readers, required, variablesOf } from '../settings/testing/readers.ts';
import { type ComposeService, compose, composeText, interpolate, small } from './testing/compose.ts';

const deploy = resolve(import.meta.dirname, '..');
const install = readFileSync(resolve(deploy, 'one-machine.sh'), 'utf8');

const asked = [...new Set([...composeText.matchAll(/\$\{([A-Z_]+):\?\}/g)].map((match) => match[1]!))];
const made = Object.fromEntries(asked.map((name) => [name, required[name] ?? `a1b2-${name.toLowerCase()}`]));

const programs: Readonly<Record<string, string>> = { migrate: 'deploy/migrate/main.ts' };

const own = Object.entries(compose.services).filter(([, { image }]) => image.startsWith('causeway/services'));
const environmentOf = ({ environment = {} }: ComposeService) =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value, made)]));

test('it runs every service', () => {
  expect(own.map(([name]) => name).sort()).toEqual(Object.keys(readers).sort());
});

test('one-machine.sh stops and starts the services that it has', () => {
  const [, services = ''] = /^services='(.*)'$/m.exec(install) ?? [];
  const running = own.filter(([name, { profiles }]) => !profiles && name !== 'migrate');
  expect(services.split(' ').sort()).toEqual(running.map(([name]) => name).sort());
});

describe.each(own)('%s', (name, service) => {
  const env = environmentOf(service);

  test('has valid settings and no unknown ones', () => {
    expect(() => readers[name]!(env)).not.toThrow();
    expect(Object.keys(env).filter((variable) => !variablesOf(readers[name]!).has(variable))).toEqual([]);
  });

  test('connects to NATS as its own user', () => {
    if (name in programs || name === 'agents') return expect(env.NATS_URL).toBeUndefined();
    const { username, password, host } = new URL(env.NATS_URL!);
    expect({ username, password, host }).toEqual({
      username: name,
      password: made[passwordVariable(name)],
      host: 'nats:4222',
    });
  });

  test('has a stop timeout longer than its drain', () => {
    if (name in programs) return expect(env.DRAIN_TIMEOUT_MS).toBeUndefined();
    const graceS = Number.parseInt(service.stop_grace_period ?? '0', 10);
    const lingerMs = Number(env.DRAIN_LINGER_MS ?? 0);
    expect(graceS * 1000).toBeGreaterThan(Number(env.DRAIN_TIMEOUT_MS) + lingerMs);
  });
});

test('our own containers, and all that face the network, are hardened', () => {
  const bare = Object.entries(compose.services).filter(
    ([name, { read_only, cap_drop, user }]) =>
      /causeway\/|^nats:/.test(compose.services[name]!.image) &&
      name !== 'nats-volume' &&
      !(read_only && cap_drop?.includes('ALL') && /^[1-9]/.test(user ?? '')),
  );
  expect(bare.map(([name]) => name)).toEqual([]);
});

test('every container that others wait for has a health check', () => {
  const awaited = Object.values(compose.services).flatMap(({ depends_on = {} }) =>
    Object.entries(depends_on).flatMap(([name, { condition }]) =>
      condition === 'service_healthy' ? [name] : [],
    ),
  );
  expect(awaited.length).toBeGreaterThan(3);
  const mute = awaited.filter((name) => !compose.services[name]?.healthcheck?.test);
  expect(mute).toEqual([]);
});

test('NATS gets the password of each of its users, in quotes', () => {
  const { environment = {} } = compose.services.nats!;
  for (const user of userNames) {
    expect(environment[passwordVariable(user)]).toBe(`"\${${passwordVariable(user)}:?}"`);
  }
});

test('logs are bounded, and so is memory: all containers but those of monitoring fit a machine of 4 GB', () => {
  const running = Object.values(compose.services).filter(({ restart }) => restart === 'unless-stopped');
  expect(running.length).toBeGreaterThan(8);
  for (const { image, logging, mem_limit } of running) {
    expect([image, logging?.options['max-size'], logging?.options['max-file']]).toEqual([image, '20m', '5']);
    expect([image, mem_limit]).toEqual([image, expect.stringMatching(/^\d+m$/)]);
  }
  const mib = running
    .filter(({ profiles }) => !profiles)
    .reduce((sum, { mem_limit = '' }) => sum + Number.parseInt(mem_limit, 10), 0);
  expect(mib).toBeLessThanOrEqual(3_900);
});

test('only dispatchers can reach the internet and only access a mail relay, and only gateways and the dashboards are reachable from outside', () => {
  expect(compose.networks.inside?.internal).toBe(true);
  expect(compose.networks.edge?.driver_opts).toEqual({
    'com.docker.network.bridge.enable_ip_masquerade': 'false',
  });
  const out = own.filter(([, { networks = [] }]) => networks.includes('internet'));
  expect(out.map(([name]) => name)).toEqual(['dispatcher']);
  const mail = own.filter(([, { networks = [] }]) => networks.includes('mail'));
  expect(mail.map(([name]) => name)).toEqual(['access']);
  const open = Object.entries(compose.services).filter(([, { ports }]) => ports);
  expect(open.map(([name]) => name)).toEqual(['gateway', 'prometheus', 'alertmanager', 'grafana']);
  for (const [, { ports = [] }] of open) {
    for (const port of ports) expect(interpolate(port, {})).toMatch(/^127\.0\.0\.1:/);
  }
});

const isMade = (path: string): boolean =>
  /\/deploy\/(?:backup|\$\{BACKUP|tls(?:\/nats\.crt)?)$/.test(path) &&
  install.includes('-out tls/nats.crt') &&
  install.includes('mkdir -p tls backup');

test('every file that is mounted or built from exists, or is created by the guide', () => {
  const paths = Object.values(compose.services).flatMap(({ volumes = [], build }) => [
    ...volumes
      .filter((volume) => volume.startsWith('.'))
      .map((volume) => resolve(deploy, volume.split(':')[0]!)),
    ...(build ? [resolve(deploy, build.context, build.dockerfile)] : []),
  ]);
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(path) && !isMade(path))).toEqual([]);
});

describe('on a machine of 2 GB', () => {
  const inOneProcess = ['access', 'crm', 'webhooks', 'dispatcher', 'gateway'];
  const gateway = small.services.gateway!;
  const shared = environmentOf({
    ...gateway,
    environment: { ...compose.services.gateway!.environment, ...gateway.environment },
  });

  test('all services but agents are one process', () => {
    const apart = Object.entries(small.services).filter(([, { profiles }]) => profiles);
    expect([...apart.map(([name]) => name), 'gateway'].toSorted()).toEqual(inOneProcess.toSorted());
    expect(gateway.command).toEqual(['services/dist/together.mjs']);
  });

  test.each(inOneProcess)(
    '%s has the settings that it has alone, and a port of its own for metrics',
    (name) => {
      const { METRICS_PORT: _, ...alone } = readers[name]!(environmentOf(compose.services[name]!));
      const { METRICS_PORT: port, ...settings } = readers[name]!(readEnv(name, shared));
      expect(settings).toMatchObject(alone);
      expect(
        inOneProcess.filter((other) => readers[other]!(readEnv(other, shared)).METRICS_PORT === port),
      ).toEqual([name]);
    },
  );

  test('it can reach what each of them can', () => {
    const networks = new Set(inOneProcess.flatMap((name) => compose.services[name]!.networks ?? []));
    expect([...(gateway.networks ?? [])].toSorted()).toEqual([...networks].toSorted());
  });

  test('its memory fits', () => {
    const running = Object.entries(compose.services).filter(
      ([name, { restart, profiles }]) =>
        restart === 'unless-stopped' && !profiles && !small.services[name]?.profiles,
    );
    const mib = running.map(([name, { mem_limit }]) =>
      Number.parseInt(small.services[name]?.mem_limit ?? mem_limit!, 10),
    );
    expect(mib.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(1_800);
  });
});
