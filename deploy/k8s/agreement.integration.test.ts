import { readEnv } from '@causeway/runtime';
import { cleanUp, provided } from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { compose, interpolate } from '../docker/testing/compose.ts';
import { readers, required, variablesOf } from '../settings/testing/readers.ts';
import {
  type Container,
  environmentOf,
  type Manifest,
  ofKind,
  ownPods,
  podsOf,
  processOf,
  renderOverlays,
  secret,
} from './testing/manifests.ts';

const rendered = await renderOverlays();
const production = rendered['overlays/production'];

const ofThePlace = new Set([
  ...['NATS_URL', 'MYSQL_URL', 'NATS_REPLICAS', 'LIMIT_LOG_SERVERS', 'PUBLIC_URL', 'INSTANCE', 'LOG_LEVEL'],
  ...['SMTP_URL', 'MAIL_FROM', 'PORTAL_URL', 'TRUSTED_PROXIES'],
]);
const isOfThePlace = (variable: string): boolean => ofThePlace.has(variable);

const anyPassword = new Proxy({ ...required } as Record<string, string>, {
  get: (given, name: string) => given[name] ?? (/PASSWORD/.test(name) ? 'given' : ''),
});

test.each(ownPods(production).map((pod) => ({ name: processOf(pod), pod })))(
  'the compose file and production run $name by the same program, with the same settings',
  ({ name, pod }) => {
    const [container] = pod.spec.containers as [Container];
    const service = compose.services[name]!;
    expect(container.args).toEqual(service.command);
    const known = variablesOf(readers[name]!);
    const here = Object.entries(environmentOf(container, secret)).filter(([variable]) => known.has(variable));
    const there = Object.entries(service.environment ?? {}).map(([variable, value]) => [
      variable,
      interpolate(value, anyPassword),
    ]);
    const comparable = (pairs: readonly (readonly unknown[])[]) =>
      Object.fromEntries(pairs.filter(([variable]) => !isOfThePlace(String(variable))));
    expect(comparable(here)).toEqual(comparable(there));
  },
);

test('the compose file and production use the same servers and have the same ports open', () => {
  const imageOf = (manifests: readonly Manifest[], name: string) =>
    podsOf(manifests).flatMap(({ spec }) => spec.containers.filter((one) => one.name === name))[0]?.image;
  expect(compose.services.nats?.image).toBe(imageOf(production, 'nats'));
  expect(compose.services.mysql?.image).toBe(imageOf(rendered['overlays/local'], 'mysql'));
  const [edge] = compose.services.gateway!.ports!;
  const [gateway] = ofKind(production, 'Service').filter(({ metadata }) => metadata.name === 'gateway');
  expect(edge?.split(':').at(-1)).toBe(String(gateway!.spec.ports[0].port));
});

test.skipIf(readEnv().MYSQL_URL)(
  'tests run MySQL with the options of the compose file and of the local overlay',
  async () => {
    const server = await createConnection(provided('mysqlUrl'));
    cleanUp(() => server.end());
    const [mysql] = podsOf(rendered['overlays/local']).filter(({ owner }) => owner.metadata.name === 'mysql');
    const [{ args }] = mysql!.spec.containers as [Container];
    // A production server has more memory than a test's.
    const ofThisSize = /buffer-pool-size|redo-log-capacity/;
    expect(args).toEqual(compose.services.mysql!.command!.filter((option) => !ofThisSize.test(option)));
    for (const option of args!) {
      const [, name = '', value] = /^--(.+)=(.+)$/.exec(option) ?? [];
      const variable = name.replace('default-', '').replaceAll('-', '_');
      const [rows] = await server.query<RowDataPacket[]>(`SELECT @@GLOBAL.${variable} AS value`);
      expect(`${name}=${rows[0]?.value}`).toBe(`${name}=${value}`);
    }
    const [[log]] = await server.query<RowDataPacket[]>('SELECT @@log_bin AS value');
    expect(log?.value).toBe(1);
  },
);
