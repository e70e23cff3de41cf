import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import type { Program } from '../../deploy/local/toolchain.ts';

/**
 * Small disks for NATS servers. A server with such a disk sees a tmpfs of limited size in place of its store, in a
 * mount namespace of its own. The disk is empty at each start, so the server copies everything from the other
 * servers.
 */
export interface Disks {
  give(name: string, sizeMiB: number): void;
  take(name: string): void;
  program(name: string, home: string, program: Program): Program;
  /** Fills the disk of a running server completely. */
  fill(name: string, pid: number): number;
  empty(name: string, pid: number): void;
  /** @returns what unmounts it. Gives MySQL a disk in memory, where this process may mount one: `npm run faults` has mounts of its own. */
  mountMysql(home: string): () => void;
  /** @param isFull without it, there is room again. */
  sizeMysql(home: string, isFull: boolean): void;
}

/** Set where mounts are seen by this process and its children alone. */
export const ownMounts = 'FAULTS_OWN_MOUNTS';
const mysqlMiB = 4_096;
const mount = (...args: string[]) => execFileSync('mount', args);

export const makeDisks = (): Disks => {
  const sizes = new Map<string, number>();
  const stores = new Map<string, string>();
  /** A path in the store, through the mount namespace of the server. */
  const filler = (name: string, pid: number): string =>
    join(`/proc/${pid}/root`, stores.get(name) ?? '', 'filler');
  return {
    give: (name, sizeMiB) => void sizes.set(name, sizeMiB),
    take: (name) => void sizes.delete(name),
    program: (name, home, program) => {
      const sizeMiB = sizes.get(name);
      if (sizeMiB === undefined) return program;
      const store = join(home, 'jetstream');
      mkdirSync(store, { recursive: true });
      stores.set(name, store);
      const script = `mount -t tmpfs -o size=${sizeMiB}m tmpfs "$0" && exec "$@"`;
      const user = process.getuid?.() === 0 ? [] : ['--map-root-user'];
      return {
        command: 'unshare',
        args: [...user, '--mount', 'sh', '-c', script, store, program.command, ...program.args],
      };
    },
    fill: (name, pid) => {
      const file = openSync(filler(name, pid), 'w');
      let bytes = 0;
      for (let block = Buffer.alloc(2 ** 20); block.length > 0; ) {
        try {
          bytes += writeSync(file, block);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          block = block.subarray(0, block.length >> 1);
        }
      }
      closeSync(file);
      return bytes;
    },
    empty: (name, pid) => rmSync(filler(name, pid), { force: true }),
    mountMysql: (home) => {
      if (!readEnv()[ownMounts]) return () => {};
      mkdirSync(join(home, 'mysql'));
      mount('-t', 'tmpfs', '-o', `size=${mysqlMiB}m`, 'tmpfs', join(home, 'mysql'));
      return () => void execFileSync('umount', ['--lazy', join(home, 'mysql')]);
    },
    sizeMysql: (home, isFull) => {
      const { blocks, bfree, bsize } = statfsSync(join(home, 'mysql'));
      const size = isFull ? `${(blocks - bfree) * bsize}` : `${mysqlMiB}m`;
      mount('-o', `remount,size=${size}`, join(home, 'mysql'));
    },
  };
};
