import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Generated once per home and stored in it, readable by its owner only. */
export type Secrets = (name: string) => string;

export const openSecrets = (home: string): Secrets => {
  const file = join(home, 'secrets.json');
  const known: Record<string, string> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return (name) => {
    const value = known[name];
    if (value !== undefined) return value;
    const made = randomBytes(24).toString('base64url');
    known[name] = made;
    writeFileSync(`${file}.fresh`, JSON.stringify(known, undefined, 2), { mode: 0o600 });
    renameSync(`${file}.fresh`, file);
    return made;
  };
};
