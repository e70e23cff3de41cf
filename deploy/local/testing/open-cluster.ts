import { resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { type Cluster, startCluster } from '../cluster.ts';
import { prepareHome } from '../home.ts';
import { parseOptions } from '../options.ts';
import { freePort } from '../ports.ts';
import type { Wiring } from '../programs.ts';
import { type Report, terminalReport } from '../report.ts';
import { readToolchain, type Toolchain } from '../toolchain.ts';

export const root = resolve(import.meta.dirname, '../../..');

/** Starts a cluster of these sources, on a free port. Its caller stops it, and may do so twice. */
export const openCluster = async ({
  home,
  counts = [],
  env = readEnv(),
  ...given
}: ClusterOptions): Promise<Cluster> => {
  prepareHome(home);
  const cluster = await startCluster({
    root,
    home,
    env,
    toolchain: readToolchain(readEnv()),
    options: parseOptions(['--port', String(await freePort()), ...counts]),
    report: terminalReport,
    signal: new AbortController().signal,
    ...given,
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= cluster.stop();
    return stopping;
  };
  return { ...cluster, stop };
};

interface ClusterOptions {
  readonly home: string;
  /** Options of `npm start`: how many processes of each kind. */
  readonly counts?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly toolchain?: Toolchain;
  readonly report?: Report;
  readonly wiring?: Wiring;
}
