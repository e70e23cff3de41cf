import { readFileSync } from 'node:fs';

/** The programs that the cluster runs on, as the bootstrap found or created them. */
export interface Toolchain {
  /** A Node that runs TypeScript and uWebSockets.js; this process runs on it too. */
  readonly node: string;
  /** Null if MYSQL_URL names a server to use. */
  readonly mysqld: MysqldProgram | null;
  /** Null if NATS_URL names a server to use. */
  readonly natsServer: Program | null;
}

export interface Program {
  readonly command: string;
  /** These precede any other arguments. */
  readonly args: readonly string[];
}

export interface MysqldProgram extends Program {
  /** Null: the program's built-in folder. */
  readonly baseDir: string | null;
  readonly messagesDir: string | null;
}

/** @param env its CAUSEWAY_TOOLCHAIN names the file that `bootstrap.mjs` wrote. */
export const readToolchain = (env: NodeJS.ProcessEnv): Toolchain => {
  const file = env.CAUSEWAY_TOOLCHAIN;
  if (!file) throw new Error('CAUSEWAY_TOOLCHAIN is not set: run this through deploy/local/bootstrap.mjs');
  return JSON.parse(readFileSync(file, 'utf8')) as Toolchain;
};
