import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a person or a test needs to use a running cluster: `stack.json` in its home. */
export interface Stack {
  readonly baseUrl: string;
  readonly portalUrl: string;
  readonly apiKey: string;
  readonly portalEmail: string;
  readonly portalPassword: string;
  /** A webhook receiver for trying subscriptions. */
  readonly receiverUrl: string;
  readonly mysqlUrl: string;
  /** With the operator's user, which has all permissions. */
  readonly natsUrl: string;
  readonly processes: readonly StackProcess[];
}

export interface StackProcess {
  readonly name: string;
  /** Null while it restarts. */
  readonly pid: number | null;
  readonly metricsUrl: string | null;
}

const fileIn = (home: string): string => join(home, 'stack.json');

/** Written atomically; readable by its owner only. */
export const writeStack = (home: string, stack: Stack): void => {
  const fresh = `${fileIn(home)}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(stack, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, fileIn(home));
};

export const readStack = (home: string): Stack | undefined => {
  try {
    return JSON.parse(readFileSync(fileIn(home), 'utf8')) as Stack;
  } catch {
    return undefined;
  }
};

export const removeStack = (home: string): void => rmSync(fileIn(home), { force: true });
