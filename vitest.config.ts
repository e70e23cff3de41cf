import { defineConfig } from 'vitest/config';
import { nightlyFiles, testFiles } from './deploy/local/test-choice.ts';

// Test files say by their name what they need: `*.unit.test.ts` nothing, `*.integration.test.ts` real
// servers, and those under e2e a running cluster. The setups start these, once a run, when files want them.
const excluded = (mode: string) => ['**/node_modules/**', ...(mode === 'nightly' ? [] : [nightlyFiles])];

export default defineConfig(({ mode }) => ({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: [...testFiles.unit],
          exclude: excluded(mode),
          // Loading the same modules anew for each file would take more processor time than the tests do.
          isolate: false,
          testTimeout: 10_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: [...testFiles.integration],
          exclude: excluded(mode),
          globalSetup: ['deploy/local/test-servers.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'api',
          include: [...testFiles.api],
          exclude: excluded(mode),
          // They share one cluster, and some of them kill its processes.
          maxWorkers: 1,
          globalSetup: ['deploy/local/test-cluster.ts'],
          // Some files take the cluster's processes away.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'portal',
          include: [...testFiles.portal],
          exclude: excluded(mode),
          maxWorkers: 1,
          globalSetup: ['deploy/local/test-portal.ts'],
          // A browser and a cluster at a time are enough for two cores.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // Files start a cluster each, of several NATS servers, and take parts of it away.
          name: 'faults',
          include: [...testFiles.faults],
          exclude: excluded(mode),
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // Of `npm run screenshots` alone.
          name: 'screenshots',
          include: ['e2e/portal/screenshots/*.shots.ts'],
          globalSetup: ['deploy/local/test-portal.ts'],
          testTimeout: 300_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
}));
