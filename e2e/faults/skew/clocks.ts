import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MysqldProgram } from '../../../deploy/local/toolchain.ts';

/** The wall clocks of the cluster's processes, by their names; MySQL's is `mysql`. Monotonic time is never changed. */
export interface Clocks {
  /** Sets how far a clock is off, at once; 0 is correct. */
  set(name: string, offsetMs: number): void;
  environment(name: string): NodeJS.ProcessEnv;
  mysqlProgram(program: MysqldProgram): MysqldProgram;
}

const compiler = '/usr/bin/cc';

/** MySQL's clock can only be set by code that is compiled for it. */
export const canSetMysql = existsSync(compiler);

/** @param folder where the files are that the processes read at each look at their clock. */
export const makeClocks = (folder: string): Clocks => {
  mkdirSync(folder, { recursive: true });
  const fileOf = (name: string): string => join(folder, name);
  const set = (name: string, offsetMs: number): void => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(offsetMs));
    // In place: they have it open.
    writeFileSync(fileOf(name), bytes, { flag: existsSync(fileOf(name)) ? 'r+' : 'w' });
  };
  const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
  return {
    set,
    environment: (name) => {
      if (!existsSync(fileOf(name))) set(name, 0);
      return { CLOCK_FILE: fileOf(name), NODE_OPTIONS: `--import=${preload}` };
    },
    mysqlProgram: (program) => {
      if (!canSetMysql) return program;
      set('mysql', 0);
      const library = join(folder, 'clock.so');
      execFileSync(compiler, ['-shared', '-fPIC', '-o', library, join(import.meta.dirname, 'clock.c')]);
      const settings = [`CLOCK_FILE=${fileOf('mysql')}`, `LD_PRELOAD=${library}`];
      return { ...program, command: 'env', args: [...settings, program.command, ...program.args] };
    },
  };
};
