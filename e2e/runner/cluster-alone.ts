import type { TestProject } from 'vitest/node';
import { terminalReport } from '../../deploy/local/report.ts';
import { provideHeadlessShell } from './chromium.ts';
import { startTestCluster } from './cluster.ts';

/**
 * A whole cluster for tests that stop and kill its processes. Each takes a second of processor time to start, so it has
 * as few as these tests need: two gateways can be away while one serves.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  project.provide('chromium', await provideHeadlessShell(terminalReport));
  return startTestCluster(project, '--gateways 3 --crm 2 --access 2 --webhooks 2 --dispatchers 2'.split(' '));
};
