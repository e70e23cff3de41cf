import { defineConfig } from 'vitest/config';
import { nightlyFiles, testFiles } from './e2e/runner/choice.ts';

// A test file's name says what it needs: `*.unit.test.ts` nothing, `*.integration.test.ts` real servers, a file
// under e2e a running cluster. The global setups start servers and clusters once a run.
const excluded = (mode: string) => ['**/node_modules/**', ...(mode === 'nightly' ? [] : [nightlyFiles])];

// For a machine four times slower than two quiet cores. Vitest's own limit is one second.
const polling = { poll: { timeout: 60_000, interval: 25 } };

// Loading the same modules anew for each file would take a third of the processor time of integration tests, more than unit
// tests take themselves, and two seconds for each file with a browser.
const keepsModules = { isolate: false };

// Projects with different numbers of workers can only run one after another, in the order of their groups.
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
          ...keepsModules,
          expect: polling,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          expect: polling,
          include: [...testFiles.integration],
          exclude: excluded(mode),
          // They wait more than they work.
          maxWorkers: 3,
          globalSetup: ['e2e/runner/servers.ts'],
          ...keepsModules,
          // For a machine four times slower than two quiet cores.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          // Files share one cluster, with companies of their own.
          name: 'api',
          sequence: { groupOrder: 2 },
          ...keepsModules,
          expect: polling,
          include: [...testFiles.api],
          exclude: excluded(mode),
          maxWorkers: 2,
          globalSetup: ['e2e/runner/cluster.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          // Files kill or measure the processes of their cluster, so they have it one at a time.
          name: 'api-alone',
          sequence: { groupOrder: 3 },
          expect: polling,
          include: [...testFiles['api-alone']],
          exclude: excluded(mode),
          maxWorkers: 1,
          fileParallelism: false,
          ...keepsModules,
          globalSetup: ['e2e/runner/cluster-alone.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          // Files share one cluster, and have a browser and companies each.
          name: 'portal',
          sequence: { groupOrder: 4 },
          ...keepsModules,
          expect: polling,
          include: [...testFiles.portal],
          exclude: excluded(mode),
          maxWorkers: 2,
          globalSetup: ['e2e/runner/portal.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // Files start a cluster each, of several NATS servers, and take parts of it away.
          name: 'faults',
          sequence: { groupOrder: 5 },
          expect: polling,
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
          // Of `npm run test:deploy` alone.
          name: 'deploy',
          sequence: { groupOrder: 6 },
          expect: polling,
          include: ['deploy/**/*.deploy.test.ts'],
          maxWorkers: 1,
          fileParallelism: false,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          // Of `npm run screenshots` alone.
          name: 'screenshots',
          sequence: { groupOrder: 7 },
          include: ['e2e/portal/screenshots/*.shots.ts'],
          globalSetup: ['e2e/runner/portal.ts'],
          testTimeout: 900_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
}));
