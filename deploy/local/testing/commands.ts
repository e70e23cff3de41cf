import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect } from 'vitest';
import { scratch } from '../../../e2e/runner/servers.ts';
import { readStack, type Stack } from '../home.ts';

const entry = (name: string) => join(import.meta.dirname, '..', name);

/** It is removed at the end of its test or suite, and what runs in it is stopped. */
export const newHome = (): string => {
  // Longer than a socket path may be, because a deep home must work too.
  const home = join(mkdtempSync(join(scratch(), 'causeway-cluster-')), 'x'.repeat(120));
  cleanUp(async () => {
    if (processesAbout(home).length > 0) await command('stop.ts', home).ended;
    rmSync(resolve(home, '..'), { recursive: true, force: true });
  });
  return home;
};

export const command = (name: string, home: string, ...args: string[]) => {
  const child = spawn(process.execPath, [entry(name), ...args], {
    env: { ...readEnv(), STACK_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said.text += data));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text: said.text }));
  return { child, said, ended };
};

export const startDetached = async (home: string, port: number): Promise<Stack> => {
  const { code, text } = await command('start.ts', home, '--port', String(port), '--detach').ended;
  expect(text).toContain('Causeway is running');
  expect(code).toBe(0);
  return readStack(home) as Stack;
};

export const lookUpEmployees = async ({
  baseUrl,
  apiKey,
}: Stack): Promise<{ status: number; count: number }> => {
  const url = `${baseUrl}/api/v1/integrations/lookups/employees`;
  const response = await fetch(url, { headers: { 'X-Api-Key': apiKey } });
  const { count } = (await response.json()) as { count: number };
  return { status: response.status, count };
};

export const processesAbout = (home: string): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const about =
        readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return about.includes(home)
        ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').slice(-80)}`]
        : [];
    } catch {
      return [];
    }
  });

export const nothingLeft = (home: string) => expect.poll(() => processesAbout(home)).toEqual([]);
