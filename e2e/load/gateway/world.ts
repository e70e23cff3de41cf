import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { createKeyValue, hashKeyValue, lastFour } from '@causeway/identity';
import { migrate } from '@causeway/runtime';
import { createConnection } from 'mysql2/promise';
import { freePort } from '../../../deploy/local/ports.ts';
import type { Program } from '../../../deploy/local/toolchain.ts';
import { firstNames, lastNames } from '../../../services/crm/demo/seed-demo.ts';
import type { Processes } from '../cpu.ts';
import { type BenchContext, startBenchCluster, startBenchMysql } from '../driver.ts';
import { startMonolith } from '../monolith/start.ts';

/** One of the two systems under measurement. */
export interface System {
  readonly name: 'cluster' | 'monolith';
  readonly baseUrl: string;
}

/** Both systems, running on one MySQL with the same data. */
export interface World {
  readonly cluster: System;
  readonly monolith: System;
  readonly data: Data;
  readonly mysqlUrl: string;
  /** All processes of both systems whose CPU time is reported. */
  readonly processes: Processes;
}

const root = resolve(import.meta.dirname, '../../..');
/** High enough to admit the whole load; every request is still counted. */
const limit = '10000000';

export const startWorld = async (
  { env, toolchain, options, onEnd }: BenchContext,
  { home, redis }: WorldOptions,
): Promise<World> => {
  const mysql = await startBenchMysql(home, toolchain.mysqld, onEnd);
  await migrate(
    mysql.url,
    ['access', 'crm'].map((name) => ({ name, folder: join(root, 'services', name, 'migrations') })),
  );
  const data = await fillDatabase(mysql.url);
  const common = { ...env, MYSQL_URL: mysql.url, RATE_LIMIT_READ: limit, RATE_LIMIT_WRITE: limit };

  const cluster = await startBenchCluster({
    home,
    env: common,
    port: await freePort(),
    args: options.startArgs,
    onEnd,
  });

  const monolith = await startMonolith({ home, redis, env: common, onEnd });

  return {
    cluster: { name: 'cluster', baseUrl: cluster.stack.baseUrl },
    monolith: { name: 'monolith', baseUrl: monolith.url },
    data,
    mysqlUrl: mysql.url,
    processes: new Map([
      ...cluster.processes,
      ['monolith', monolith.pid],
      ['redis', monolith.redisPid],
      ['mysql', mysql.pid],
    ]),
  };
};

interface WorldOptions {
  readonly home: string;
  readonly redis: Program;
}

/** The data that both systems are queried for. */
interface Data {
  /** Ordered so that neighbours belong to different companies. */
  readonly keys: readonly string[];
  /** Keys with a limit of `limitOfLimited` requests per minute. */
  readonly limitedKeys: readonly string[];
}

export const companies = 300;
const keysPerCompany = 20;
export const employeesPerCompany = 16;
export const limitOfLimited = 40;
const limitedCompanies = 20;
const firstCompanyId = 5001;
const affiliateRole = 6;

/** Fills a migrated database with a few bulk statements, before any service runs on it. */
const fillDatabase = async (mysqlUrl: string): Promise<Data> => {
  const companyIds = Array.from({ length: companies }, (_, at) => firstCompanyId + at);
  const newKey = (companyId: number) => createKeyValue({ prefix: 'crm', companyId, random: randomBytes });
  const keyRow = (companyId: number, value: string, limitRead: number | null) => [
    companyId,
    'bench',
    Buffer.from(hashKeyValue(value), 'base64url'),
    'crm',
    lastFour(value),
    'integrations:read integrations:write',
    limitRead,
    now,
  ];
  const now = new Date();
  const rounds = Array.from({ length: keysPerCompany }, () =>
    companyIds.map((id) => [id, newKey(id)] as const),
  );
  const open = rounds.flat();
  const limited = companyIds.slice(0, limitedCompanies).map((id) => [id, newKey(id)] as const);

  const db = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  await db.query('INSERT INTO companies (company_id, name, created_utc) VALUES ?', [
    companyIds.map((id) => [id, `Company ${id}`, now]),
  ]);
  await db.query(
    'INSERT INTO employees (company_id, role_id, first_name, last_name, email, is_approved) VALUES ?',
    [companyIds.flatMap(staff)],
  );
  await db.query(
    'INSERT INTO api_keys (company_id, name, key_hash, prefix, last4, scopes, limit_read, created_utc) VALUES ?',
    [
      [
        ...open.map(([id, value]) => keyRow(id, value, null)),
        ...limited.map(([id, value]) => keyRow(id, value, limitOfLimited)),
      ],
    ],
  );
  await db.query('ANALYZE TABLE companies, employees, api_keys, statuses');
  await db.end();
  return {
    keys: open.map(([, value]) => value),
    limitedKeys: limited.map(([, value]) => value),
  };
};

/** The last two are affiliates, which the lookup leaves out. */
const staff = (companyId: number) =>
  Array.from({ length: employeesPerCompany }, (_, at) => {
    const first = firstNames[(companyId + at * 7) % firstNames.length]!;
    const last = lastNames[(companyId * 3 + at * 5) % lastNames.length]!;
    const role = at < employeesPerCompany - 2 ? 1 + (at % 5) : affiliateRole;
    return [
      companyId,
      role,
      first,
      last,
      `${first}.${last}.${at}@company${companyId}.example`.toLowerCase(),
      true,
    ];
  });
