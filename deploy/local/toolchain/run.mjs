import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { SetupError } from './terminal.mjs';

/** A failure carries the program's own output. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const error = new Error(`${command} ended with ${signal ?? code}`);
      reject(Object.assign(error, { output: `${stdout}\n${stderr}`.trim(), stderr }));
    });
  });
}

export function onPath(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {}
  }
  return null;
}

/** Fails early, instead of half-way with ENOSPC. */
export function requireSpace(folder, neededMiB, purpose) {
  let place = folder;
  while (!existsSync(place)) place = dirname(place);
  const disk = statfsSync(place);
  const freeMiB = Math.floor((disk.bavail * disk.bsize) / 2 ** 20);
  if (freeMiB >= neededMiB) return;
  throw new SetupError(
    `Not enough disk space in ${place} for ${purpose}: ${neededMiB} MiB are needed and ${freeMiB} MiB are free. ` +
      'Free some, or point CAUSEWAY_CACHE and STACK_HOME at a larger disk.',
  );
}

export const isDiskFull = (text) => /ENOSPC|No space left|don't have enough free space/i.test(text ?? '');
