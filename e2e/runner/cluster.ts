import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import type { TestProject } from 'vitest/node';
import type { Stack } from '../../deploy/local/home.ts';
import { openCluster } from '../../deploy/local/testing/open-cluster.ts';
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
  try {
    const cluster = await openCluster({ home, env: { ...settings, ...readEnv() }, counts });
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
