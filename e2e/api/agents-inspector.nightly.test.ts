import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { type Json, openWorld } from './support/world.ts';

// The command line of the protocol's own inspector, installed for the test: its 110 MB are in no other use.

const version = '2.12.0';
const world = await openWorld();
const folder = mkdtempSync(join(tmpdir(), 'causeway-inspector-'));
cleanUp(() => rmSync(folder, { recursive: true, force: true }));
const run = promisify(execFile);
await run('npm', [
  ...['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'],
  `@modelcontextprotocol/inspector@${version}`,
]);
const launcher = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

const inspect = async (key: string, ...options: readonly string[]): Promise<Json> => {
  const { stdout } = await run(
    process.execPath,
    [launcher, '--cli', `${world.baseUrl}/mcp`, '--header', `X-Api-Key: ${key}`, '--method', ...options],
    // Its settings and catalogue stay in the folder.
    { env: { HOME: folder } },
  );
  return JSON.parse(stdout);
};
const call = async (
  key: string,
  tool: string,
  given: Readonly<Record<string, string | number>> = {},
): Promise<Json> => {
  const pairs = Object.entries(given).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]);
  return (await inspect(key, 'tools/call', '--tool-name', tool, ...pairs)).structuredContent;
};

test('the inspector completes five jobs with a writing and a read-only key', async () => {
  const company = await world.company();
  const [{ value: writing }, { value: reading }] = [
    await company.key(),
    await company.key(['integrations:read', 'events:read']),
  ];
  // First job: which tools are there for each key?
  const names = async (key: string) => (await inspect(key, 'tools/list')).tools.map(({ name }: Json) => name);
  expect(await names(writing)).toContain('leads_create');
  expect((await names(reading)).filter((name: string) => /create|update|subscriptions/.test(name))).toEqual(
    [],
  );
  // Second job: a lead comes in.
  const given = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com', external_id: 'form-9' };
  const { client_id } = await call(writing, 'leads_create', given);
  // Third job: it becomes a client.
  const moved = await call(writing, 'clients_update_status', { client_id, new_status: 'Client - Active' });
  expect(moved).toMatchObject({ new_status: 'Client - Active' });
  // Fourth job: what is known about the person?
  expect(await call(reading, 'people_get', { client_id })).toMatchObject({
    external_id: 'form-9',
    is_lead: false,
  });
  // Fifth job: what has happened?
  const { events } = await call(reading, 'events_list', { order: 'asc' });
  expect(events.map(({ type }: Json) => type)).toEqual(['lead.created', 'client.status_changed']);
});
