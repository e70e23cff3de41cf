import { argon2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

/** OWASP's password storage cheat sheet, argon2id with 19 MiB: about 25 ms of one core. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 };

/** An argon2id hash in PHC string form: `$argon2id$v=19$m=…,t=…,p=…$<salt>$<hash>`, base64 without padding. */
export const hashPassword = (password: string, nonce: Buffer = randomBytes(16)): string => {
  const hash = argon2Sync('argon2id', {
    ...cost,
    message: password.normalize('NFC'),
    nonce,
    tagLength: 32,
  });
  const { memory: m, passes: t, parallelism: p } = cost;
  return `$argon2id$v=19$m=${m},t=${t},p=${p}$${unpadded(nonce)}$${unpadded(hash)}`;
};

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Undefined if the hash is unreadable. */
export const saltOf = (stored: string): Buffer | undefined => {
  const salt = phc.exec(stored)?.[4];
  return salt === undefined ? undefined : Buffer.from(salt, 'base64');
};

/** Hashes of one salt and cost share a derivation. The cost is read from the hash: it may be raised. */
export const verifyPasswords = (
  password: string,
  stored: readonly string[],
  derive: typeof argon2Sync = argon2Sync,
): boolean[] => {
  const derived = new Map<string, Buffer>();
  const results: boolean[] = [];
  for (const phcText of stored) {
    const [, memory, passes, parallelism, salt, hash] = phc.exec(phcText) ?? [];
    if (!salt || !hash) {
      results.push(false);
      continue;
    }
    const expected = Buffer.from(hash, 'base64');
    const inputs = JSON.stringify([memory, passes, parallelism, salt, expected.length]);
    const actual =
      derived.get(inputs) ??
      derive('argon2id', {
        message: password.normalize('NFC'),
        nonce: Buffer.from(salt, 'base64'),
        memory: Number(memory),
        passes: Number(passes),
        parallelism: Number(parallelism),
        tagLength: expected.length,
      });
    derived.set(inputs, actual);
    results.push(timingSafeEqual(actual, expected));
  }
  return results;
};

export const verifyPassword = (password: string, stored: string): boolean =>
  verifyPasswords(password, [stored])[0] === true;

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');
