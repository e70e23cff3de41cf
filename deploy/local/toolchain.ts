import { readFileSync } from 'node:fs';

/** The programs the cluster runs on, as the bootstrap found or made them. */
export interface Toolchain {
  /** A Node that runs TypeScript and uWebSockets.js; it is also the one running now. */
  readonly node: string;
  /** Null when MYSQL_URL names a server to use. */
  readonly mysqld: MysqldProgram | null;
  /** Null when NATS_URL names a server to use. */
  readonly natsServer: Program | null;
}

export interface Program {
  readonly command: string;
  /** Come before any others. */
  readonly args: readonly string[];
}

export interface MysqldProgram extends Program {
  /** Null: where the program was built to look. */
  readonly baseDir: string | null;
  readonly messagesDir: string | null;
}

/** @param env its CAUSEWAY_TOOLCHAIN names the file `bootstrap.mjs` wrote. */
export const readToolchain = (env: NodeJS.ProcessEnv): Toolchain => {
  const file = env.CAUSEWAY_TOOLCHAIN;
  if (!file) throw new Error('CAUSEWAY_TOOLCHAIN is not set: run this through deploy/local/bootstrap.mjs');
  return JSON.parse(readFileSync(file, 'utf8')) as Toolchain;
};
