import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@causeway/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../deploy/local/ports.ts';

export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=';
export const body = '{"id":1,"type":"client.created","payload":{"first_name":"Zoë"}}';
export const now = (): number => Math.floor(Date.now() / 1000);
export const sign = (key: string, timestamp: number): string =>
  `sha256=${createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')}`;

export const has = (program: string, ...args: string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

export const unless = (available: boolean, reason: string): string | undefined =>
  available ? undefined : reason;

interface Language {
  readonly file: string;
  /** Why its programs cannot run here; undefined if they can. */
  readonly missing?: string | undefined;
  /** The command that runs a receiver. */
  readonly command: (file: string, port: number) => readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>> | undefined;
}
export type Languages = Readonly<Record<string, Language>>;

const root = join(import.meta.dirname, '../../../..');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-receivers-'));
  installClient();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As `npm install @causeway/client` would. */
const installClient = (): void => {
  const client = join(root, 'proto/client');
  const installed = join(folder, 'node_modules/@causeway/client');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', client, '--outDir', join(installed, 'dist')]);
  copyFileSync(join(client, 'package.json'), join(installed, 'package.json'));
};

/** @returns the path of a copy that finds the client. */
export const program = (name: string): string => {
  const file = join(folder, name);
  copyFileSync(join(import.meta.dirname, '..', name), file);
  return file;
};

const deliver = (port: number, timestamp: number | string, signature: string): Promise<number> =>
  fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'X-Webhook-Timestamp': String(timestamp), 'X-Webhook-Signature': signature },
    body,
  }).then((response) => response.status);

const leaveInTheMiddle = (port: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{', () => socket.destroy()),
    );
    socket.once('close', () => resolve());
  });

const stop = (child: ChildProcess): void => {
  // `go run` starts the program as a child process.
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
};

export const testReceivers = (languages: Languages): void => {
  describe('the receivers of the guide', () => {
    for (const [name, { file, missing, command, env: own }] of Object.entries(languages)) {
      it(`accept only genuine deliveries: ${name}`, async ({ skip }) => {
        if (missing) skip(missing);
        const port = await freePort();
        const [executable, ...args] = command(program(`verify.${file}`), port);
        const env = { ...readEnv(), ...own, WEBHOOK_SECRET: secret, PORT: String(port) };
        const child = spawn(executable, args, { env, stdio: 'ignore', detached: true });
        try {
          await expect
            .poll(() => deliver(port, now(), 'sha256=00'), { timeout: 45_000, interval: 100 })
            .toBeGreaterThan(0);
          const at = now();
          expect(await deliver(port, at, sign(secret, at))).toBe(204);
          expect(await deliver(port, at, `${sign('whsec_new', at)},${sign(secret, at)}`)).toBe(204);
          expect(await deliver(port, at, sign('whsec_other', at))).toBe(401);
          expect(await deliver(port, at - 3600, sign(secret, at - 3600))).toBe(401);
          expect(await deliver(port, at + 1, sign(secret, at))).toBe(401);
          expect(await deliver(port, at, 'sha256=ü')).toBe(401);
          expect(await deliver(port, '²', sign(secret, at))).toBe(401);
          await leaveInTheMiddle(port);
          expect(await deliver(port, at, sign(secret, at))).toBe(204);
        } finally {
          stop(child);
        }
      });
      it(`accept nothing without a secret: ${name}`, async ({ skip }) => {
        if (missing) skip(missing);
        const port = await freePort();
        const [executable, ...args] = command(program(`verify.${file}`), port);
        const env = { ...readEnv(), ...own, WEBHOOK_SECRET: '', PORT: String(port) };
        const child = spawn(executable, args, { env, stdio: 'ignore', detached: true });
        const ended = new Promise<number>((resolve) => child.once('exit', () => resolve(0)));
        try {
          const forged = async (): Promise<number> => {
            const at = now();
            return deliver(port, at, sign('', at)).catch(() => forgedLater());
          };
          const forgedLater = () => sleep(100).then(forged);
          expect(await Promise.race([ended, forged()])).not.toBe(204);
        } finally {
          if (child.exitCode === null) stop(child);
        }
      });
    }
  });
};
