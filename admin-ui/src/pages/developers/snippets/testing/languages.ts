import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../../deploy/local/ports.ts';

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
  /** The command that runs a file; `port` is 0 if it is not a receiver. */
  readonly command: (file: string, port: number) => readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>> | undefined;
}
export type Languages = Readonly<Record<string, Language>>;

const root = join(import.meta.dirname, '../../../../../..');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-snippets-'));
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

export const snippet = (name: string, baseUrl = ''): string => {
  const text = readFileSync(join(import.meta.dirname, '..', name), 'utf8').replaceAll(
    '__BASE_URL__',
    baseUrl,
  );
  const file = join(folder, name);
  writeFileSync(file, text, { mode: 0o755 });
  return file;
};

const deliver = (port: number, timestamp: number, signature: string): Promise<number> =>
  fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'X-Webhook-Timestamp': String(timestamp), 'X-Webhook-Signature': signature },
    body,
  }).then((response) => response.status);

const stop = (child: ChildProcess): void => {
  // `go run` starts the program as a child process.
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
};

export const testReceivers = (languages: Languages): void => {
  describe('the receivers shown in the portal', () => {
    for (const [name, { file, missing, command, env: own }] of Object.entries(languages)) {
      it(`accept only genuine deliveries: ${name}`, async ({ skip }) => {
        if (missing) skip(missing);
        const port = await freePort();
        const [program, ...args] = command(snippet(`verify.${file}`), port);
        const env = { ...readEnv(), ...own, WEBHOOK_SECRET: secret, PORT: String(port) };
        const child = spawn(program, args, { env, stdio: 'ignore', detached: true });
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
        } finally {
          stop(child);
        }
      });
    }
  });
};

export const testFirstCalls = (languages: Languages): void => {
  describe('the first calls shown in the portal', () => {
    let server: Server;
    let baseUrl: string;
    let seen: { key: string | undefined; body: unknown }[] = [];
    beforeAll(async () => {
      server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const key = request.headers['x-api-key'];
        seen.push({ key: String(key), body: JSON.parse(Buffer.concat(chunks).toString()) });
        response.writeHead(request.url === '/api/v1/integrations/leads' ? 201 : 404, {
          'Content-Type': 'application/json',
        });
        response.end('{"client_id":1042,"status":"Lead - New","created_utc":"2026-01-15T09:30:00.000Z"}');
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
    });
    afterAll(() => server.close());

    for (const [name, { file, missing, command, env }] of Object.entries(languages)) {
      it(`create a lead: ${name}`, async ({ skip }) => {
        if (missing) skip(missing);
        seen = [];
        const [program, ...args] = command(snippet(`start.${file}`, baseUrl), 0);
        const child = spawn(program, args, { env: { ...readEnv(), ...env, CAUSEWAY_KEY: 'crm_1_key' } });
        let output = '';
        child.stdout.on('data', (text) => {
          output += text;
        });
        const code = await new Promise((done) => child.on('close', done));
        expect(code).toBe(0);
        expect(output).toContain('1042');
        expect(seen).toEqual([
          {
            key: 'crm_1_key',
            body: {
              first_name: 'Ada',
              last_name: 'Lovelace',
              email: 'ada@example.com',
              external_id: 'form-1',
            },
          },
        ]);
      });
    }
  });
};
