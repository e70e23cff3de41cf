import { problem } from '@causeway/proto';
import { hashPassword, verifyPassword } from './password.ts';

/** Hashes and checks passwords, a few at a time: each takes 19 MiB and a core for tens of milliseconds. */
export interface Hasher {
  /** @throws Problem `service_unavailable` when too many wait */
  hash(password: string): Promise<string>;
  /** @param stored null where there is no such account: then it takes as long, and is false. */
  verify(password: string, stored: string | null): Promise<boolean>;
}

const atOnce = 2;
/** Some two seconds of work. */
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

  return {
    hash: (password) => inTurn(() => hashPassword(password)),
    verify: async (password, stored) => {
      nobody ??= hashPassword('nobody has this password');
      const against = stored ?? (await nobody);
      const right = await inTurn(() => verifyPassword(password, against));
      return stored !== null && right;
    },
  };
};
