import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from '@causeway/runtime';
import { type MysqlServer, startMysql } from '../../deploy/local/mysql.ts';
import type { Report } from '../../deploy/local/report.ts';
import type { Program } from '../../deploy/local/toolchain.ts';
import { migrationFolders } from '../../deploy/migrate/config.ts';
import { startVitess, type VitessCluster, type VitessOptions } from '../../deploy/vitess/testing/cluster.ts';
import { addKeyspaces } from '../../deploy/vitess/testing/keyspaces.ts';
import type { Tablet } from '../../deploy/vitess/testing/tablet.ts';
import type { Ends } from '../load/driver.ts';
import type { Table } from '../load/report.ts';

export const parts = ['api', 'rates', 'reshard'] as const;
export type Part = (typeof parts)[number];

export interface ScaleOutContext extends Omit<VitessOptions, 'home'> {
  readonly env: NodeJS.ProcessEnv;
  readonly natsServer: Program;
  readonly wrk: Program;
  readonly onEnd: Ends['onEnd'];
  readonly report: Report;
  readonly options: {
    readonly parts: readonly Part[];
    /** Parts of the paths of the API tests to run; empty for all. */
    readonly tests: readonly string[];
    /** Creates per second during the reshard. */
    readonly rate: number;
    readonly rounds: number;
    readonly seconds: number;
    readonly write: boolean;
  };
}

/** What the parts run on: Vitess with two shards, and one MySQL server with the same schema. */
export interface Stage extends ScaleOutContext {
  readonly home: string;
  /** Removes the logs too at the end. */
  readonly pass: () => void;
  readonly vitess: VitessCluster;
  readonly shards: readonly Tablet[];
  readonly plain: MysqlServer;
  /** The settings of services on Vitess. */
  readonly onVitess: NodeJS.ProcessEnv;
}

/** The result of a part. */
export interface Outcome {
  readonly tables: readonly Table[];
  /** Sentences about what failed. */
  readonly complaints: readonly string[];
}

export const root = resolve(import.meta.dirname, '../..');

/** Starts both. */
export const openStage = async (context: ScaleOutContext): Promise<Stage> => {
  const { mysqld, onEnd, report, env } = context;
  const { home, pass } = openHome(context);
  const plain = await report.step('MySQL with the schema', async () => {
    // With a binary log too, as in production: only Vitess differs.
    const place = { home: join(home, 'plain'), bufferPoolMiB: 128, gtids: true };
    const server = await startMysql({ ...place, program: mysqld });
    onEnd(() => server.stop());
    await migrate(server.url, migrationFolders(root));
    return server;
  });
  const vitess = await report.step('etcd and vtctld', () => startVitess({ ...context, home }));
  onEnd(() => vitess.stop());
  const shards = await report.step('MySQL and vttablet of three shards', () =>
    addKeyspaces(vitess, plain.url),
  );
  await report.step('vtgate', () => vitess.startGate());
  return {
    ...context,
    home,
    pass,
    vitess,
    shards,
    plain,
    onVitess: {
      // Clusters that follow one another open the secrets of those before them.
      ...{ WEBHOOKS_SECRET_KEYS: newKeyRing(), PORTAL_SECRET_KEYS: newKeyRing() },
      ...env,
      MYSQL_URL: vitess.url,
      MYSQL_SHARDS: 'vtgate',
    },
  };
};

const newKeyRing = (): string => `local:${randomBytes(32).toString('base64')}`;

/** A folder that is removed at the end, except for its logs if the run did not pass. */
const openHome = ({ onEnd, report }: ScaleOutContext): Pick<Stage, 'home' | 'pass'> => {
  const home = mkdtempSync(join(tmpdir(), 'causeway-scale-out-'));
  let passed = false;
  onEnd(async () => {
    const remove = (path: string) => rmSync(path, { recursive: true, force: true });
    if (passed) return remove(home);
    for (const name of readdirSync(home))
      if (/^(?:mysql-|plain|etcd|work|bin)/.test(name)) remove(join(home, name));
    report.line(`logs: ${home}`);
  });
  const pass = (): void => {
    passed = true;
  };
  return { home, pass };
};
