import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../deploy/local/cluster.ts';
import { prepareHome, type Stack } from '../../deploy/local/home.ts';
import { parseOptions } from '../../deploy/local/options.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { terminalReport } from '../../deploy/local/report.ts';
import { readToolchain } from '../../deploy/local/toolchain.ts';
import { scratch } from './servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The cluster the API tests run against. */
    stack: Stack;
    /** Its home: `stack.json` there lists its current processes. */
    stackHome: string;
  }
}

/** The real schedule takes sixteen hours; a unit test walks it on an injected clock. */
const settings = {
  WEBHOOKS_RETRY_SCHEDULE: '200ms,400ms,800ms,1s,1s,1s,1s,1s,1s,1s',
  WEBHOOKS_PROBE_INTERVAL: '10ms',
  // Each file's browsers come from an address of their own, as failed sign-ins are counted by address.
  TRUSTED_PROXIES: '1',
  // A starved client may take seconds to use a connection that it keeps.
  DRAIN_LINGER_MS: '12000',
  // Fuzzing sends more requests a minute than a member may.
  RATE_LIMIT_PORTAL: '1000000',
};

/**
 * A whole cluster for the run, in its own home and on a free port: four gateways, to see limits and revocations hold
 * across them, and two of each other service, of which one can stop.
 */
export default (project: TestProject): Promise<() => Promise<void>> =>
  startTestCluster(project, '--gateways 4 --crm 2 --access 2 --webhooks 2 --dispatchers 2'.split(' '));

/** @param counts how many of what, as in the options of `npm start`; one of each by default. */
export const startTestCluster = async (
  { provide }: TestProject,
  counts: readonly string[],
): Promise<() => Promise<void>> => {
  const home = mkdtempSync(join(scratch(), 'causeway-test-stack-'));
  const removeHome = () => rmSync(home, { recursive: true, force: true });
  prepareHome(home);
  try {
    const cluster = await startCluster({
      root: resolve(import.meta.dirname, '../..'),
      home,
      env: { ...settings, ...readEnv() },
      toolchain: readToolchain(readEnv()),
      options: parseOptions(['--port', String(await freePort()), ...counts]),
      report: terminalReport,
      signal: new AbortController().signal,
    });
    provide('stack', cluster.stack);
    provide('stackHome', home);
    return async () => {
      await cluster.stop();
      removeHome();
    };
  } catch (error) {
    removeHome();
    throw error;
  }
};
