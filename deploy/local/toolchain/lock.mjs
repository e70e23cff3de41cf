import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Takes an exclusive lock, the kernel's, so that it is released however this process ends.
 * @param flags of `flock`; with `--nonblock` it does not wait.
 * @returns the release; undefined if another process holds the lock.
 */
export async function lock(file, ...flags) {
  const holder = spawn('flock', [...flags, file, 'sh', '-c', 'echo held; exec cat'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const isHeld = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    once(holder, 'exit').then(() => false),
  ]);
  return isHeld ? () => holder.stdin.end() : undefined;
}

export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  const release = await lock(file);
  if (!release) throw new Error(`could not lock ${file}`);
  try {
    return await work();
  } finally {
    release();
  }
}
