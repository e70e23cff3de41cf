import { problem } from '@causeway/proto';
import { hashPassword, verifyPasswords } from './password.ts';

/** Hashes and checks passwords, a few at a time: each takes 19 MiB of memory and a core for tens of milliseconds. */
export interface Hasher {
  /** @param salt random by default. @throws Problem `service_unavailable` when too many callers wait */
  hash(password: string, salt?: Buffer): Promise<string>;
  verify(password: string, stored: string): Promise<boolean>;
  /**
   * Tells which of the hashes belong to this password. The memberships of an address share a salt, so one, several
   * and, with a dummy hash, none take equally long.
   */
  matches(password: string, stored: readonly string[]): Promise<boolean[]>;
}

const atOnce = 2;
/** About two seconds of work. */
const maxWaiting = 100;

export const createHasher = (): Hasher => {
  let running = 0;
  const waiting: (() => void)[] = [];
  let nobody: Promise<string> | undefined;

  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= atOnce) {
      if (waiting.length >= maxWaiting) throw problem('service_unavailable');
      await new Promise<void>((go) => waiting.push(go));
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };

  const matches: Hasher['matches'] = async (password, stored) => {
    nobody ??= hashPassword('nobody has this password');
    const against = stored.length > 0 ? stored : [await nobody];
    const results = await inTurn(() => verifyPasswords(password, against));
    return results.slice(0, stored.length);
  };

  return {
    hash: (password, salt) => inTurn(() => hashPassword(password, salt)),
    verify: async (password, stored) => (await matches(password, [stored]))[0] === true,
    matches,
  };
};
