import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { methodNames } from '@causeway/proto/method-names';
import { testReceiver } from '@causeway/runtime/testing';
import { afterAll, expect, test } from 'vitest';
import { openPortal } from './support/portal.ts';

// The package as it is published, used against the cluster in Node and in a browser.

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

const folder = mkdtempSync(join(tmpdir(), 'causeway-client-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const installed = join(folder, 'node_modules/@causeway/client');

const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
  cwd: join(root, 'proto/client'),
});
const [{ filename, files }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[')));
mkdirSync(installed, { recursive: true });
await run('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1']);

const everyMethod = Object.values(methodNames).toSorted();
const company = () => world.company({ read: 1000, write: 1000 });

test('the package holds what its users need, and nothing else', () => {
  const names = (files as readonly { path: string }[]).map(({ path }) => path);
  expect(names).toEqual(expect.arrayContaining(['package.json', 'dist/index.js', 'dist/index.d.ts']));
  expect(
    names.filter(
      (name) => !/^(package\.json|README\.md|dist\/(terminal\/(import\/)?)?[\w.-]+\.(js|d\.ts))$/.test(name),
    ),
  ).toEqual([]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(dependencies).toBeUndefined();
});

test('its commands run', async () => {
  const { value } = await (await company()).key();
  const env = { CAUSEWAY_URL: `${world.baseUrl}/api/v1/`, CAUSEWAY_KEY: value };
  const program = join(installed, 'dist/terminal/main.js');
  const { stdout } = await run(process.execPath, [program, 'trigger', 'lead.created'], { env });
  expect(stdout).toMatch(/^\d+ {2}lead\.created {2}to 0 subscriptions\n$/);
});

test('every operation works in a browser, and a delivery is verified there', async () => {
  const { value: apiKey } = await (await company()).key();
  // The page's own policy forbids scripts; the client's user has a page of their own.
  const page = await portal.open(undefined, { bypassCSP: true, mayLog: /status of 4(04|12)/ });
  await page.route('**/client/*', (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1)!;
    const body =
      name === 'every-operation.js'
        ? stripTypeScriptTypes(
            readFileSync(join(import.meta.dirname, '../api/clients/every-operation.ts'), 'utf8'),
          )
        : readFileSync(join(installed, 'dist', name), 'utf8');
    return route.fulfill({ body, contentType: 'text/javascript' });
  });
  await page.goto(`${world.baseUrl}/docs`);
  const program = `(async () => {
    const { createClient, verifyWebhook } = await import('/client/index.js');
    const { callEveryOperation } = await import('/client/every-operation.js');
    const causeway = createClient({ baseUrl: location.origin, apiKey: '${apiKey}' });
    const { samples, signingSecret } = await causeway.events.samples();
    const types = [];
    for (const { body, headers } of samples) types.push((await verifyWebhook(body, headers, signingSecret)).type);
    return { types, called: await callEveryOperation(causeway, '${receiver.url}', 'browser') };
  })()`;
  const { types, called } = (await page.evaluate(program)) as { types: string[]; called: string[] };
  expect(types).toHaveLength(10);
  expect(called).toEqual(everyMethod);
});

test('its types compile in a strict program without Node', async () => {
  writeFileSync(
    join(folder, 'program.ts'),
    `import { createClient, Invalid, RateLimited, verifyWebhook, type PersonRecord } from '@causeway/client';
    const causeway = createClient({ baseUrl: '', apiKey: '' });
    for await (const event of causeway.events.list({ type: 'lead.created' })) event.id.toFixed();
    const lead = await causeway.leads.create({ first_name: '', last_name: '', email: '', phone: undefined });
    const read: PersonRecord | null = await causeway.people.get(lead.client_id, { ifNoneMatch: 2 });
    const event = await verifyWebhook('', new Headers(), 'whsec_');
    if (event.type === 'client.status_changed' && !('erased' in event.payload))
      event.payload.previous_status.trim();
    // @ts-expect-error: no such field.
    causeway.leads.create({ first_name: '', last_name: '', email: '', nickname: '' });
    // @ts-expect-error: null unless it has changed.
    read.client_id;
    export const text = (error: unknown) =>
      error instanceof Invalid ? error.details[0]?.code : error instanceof RateLimited ? error.retryAfter : '';
    `,
  );
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch(
    ({ stdout }: { stdout: string }) => expect.fail(stdout),
  );
});
