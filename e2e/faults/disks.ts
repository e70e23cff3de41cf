import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '../../deploy/local/toolchain.ts';

/**
 * Small disks for NATS servers. A server that is given one sees, in a mount namespace of its own, a tmpfs of so
 * many megabytes where its store is; it is empty at each start, so the server gets everything from the others.
 */
export interface Disks {
  give(name: string, sizeMiB: number): void;
  take(name: string): void;
  program(name: string, home: string, program: Program): Program;
  /** Fills the disk of a running server to its last byte. */
  fill(name: string, pid: number): number;
  empty(name: string, pid: number): void;
}

export const makeDisks = (): Disks => {
  const sizes = new Map<string, number>();
  const stores = new Map<string, string>();
  /** The store as the server itself sees it. */
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
  };
};
