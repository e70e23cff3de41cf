import type { TestProject } from 'vitest/node';
import { terminalReport } from '../../deploy/local/report.ts';
import { provideHeadlessShell } from './chromium.ts';
import { startTestCluster } from './cluster.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the browser's program. */
    chromium: string;
  }
}

/** A browser, and a cluster whose pages it opens. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  project.provide('chromium', await provideHeadlessShell(terminalReport));
  return startTestCluster(project, []);
};
