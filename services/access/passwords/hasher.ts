import { problem } from '@causeway/proto';
import { Piscina } from 'piscina';
import type { PasswordTask } from './worker.ts';

/** A few at a time, in threads of low priority: each takes 19 MiB and a core for tens of milliseconds. */
export interface Hasher {
  /** @param salt random by default. @throws Problem `service_unavailable` when too many callers wait */
  hash(password: string, salt?: Buffer): Promise<string>;
  verify(password: string, stored: string): Promise<boolean>;
  /** Memberships of an address share a salt: one, several and, by a dummy hash, none take equally long. */
  matches(password: string, stored: readonly string[]): Promise<readonly boolean[]>;
  close(): Promise<void>;
}

/** Strangers use one at most, so the other one stays free for members. */
const threads = 2;
/** About two seconds of work. */
const maxWaiting = 100;

export const createHasher = (): Hasher => {
  const pool = new Piscina<PasswordTask, string | readonly boolean[]>({
    filename: new URL('./worker.ts', import.meta.url).href,
    // At rest they would hold 40 MB.
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 30_000,
    // The threads inherit neither the environment nor the loaders of this process.
    env: {},
    execArgv: [],
  });
  const run = async (task: PasswordTask): Promise<string | readonly boolean[]> => {
    if (pool.queueSize >= maxWaiting) throw problem('service_unavailable');
    return pool.run(task);
  };
  const matches: Hasher['matches'] = async (password, stored) =>
    (await run({ password, stored })) as readonly boolean[];

  return {
    hash: async (password, salt) => (await run({ hash: password, salt })) as string,
    verify: async (password, stored) => (await matches(password, [stored]))[0] === true,
    matches,
    close: () => pool.destroy(),
  };
};
