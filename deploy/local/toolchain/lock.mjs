import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Runs `work` with an exclusive lock, the kernel's, so that it is released however this process ends. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await new Promise((resolve, reject) => {
    holder.once('error', reject);
    holder.once('exit', () => reject(new Error(`could not lock ${file}`)));
    holder.stdout.once('data', resolve);
  });
  try {
    return await work();
  } finally {
    holder.removeAllListeners('exit');
    holder.stdin.end();
  }
}
