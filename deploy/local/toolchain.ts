import { readFileSync } from 'node:fs';

export interface Toolchain {
  readonly node: string;
  readonly mysqld: MysqldProgram | null;
  readonly natsServer: Program | null;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

export interface MysqldProgram extends Program {
  readonly baseDir: string | null;
  readonly messagesDir: string | null;
}

/** @param env `CAUSEWAY_TOOLCHAIN` names the file that `bootstrap.mjs` wrote. */
export const readToolchain = (env: NodeJS.ProcessEnv): Toolchain => {
  const file = env.CAUSEWAY_TOOLCHAIN;
  if (!file) throw new Error('CAUSEWAY_TOOLCHAIN is not set: run this through deploy/local/bootstrap.mjs');
  return JSON.parse(readFileSync(file, 'utf8')) as Toolchain;
};
