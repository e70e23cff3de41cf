import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { keyOperations } from '@causeway/proto';
import { detailCodes, errorCodes } from '@causeway/proto/errors';
import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addEmployee } from './support/people.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const receiver = await testReceiver();
const folder = resolve(import.meta.dirname, '../../proto/guides');
const guides = readdirSync(folder).map((file) => file.replace('.md', ''));
const pages = [
  '/docs',
  '/docs/contract',
  '/docs/webhooks',
  ...guides.map((name) => `/docs/${name}`),
  '/docs/contract.md',
  '/llms-full.txt',
  '/llms.txt',
  '/docs/settings.schema.json',
  '/.well-known/api-catalog',
];

test.each(pages)('%s is read without a key, and asked again only if it changed', async (path) => {
  const page = await world.ask(`/${path}`);
  expect([page.status, page.headers['cache-control']]).toEqual([200, 'public, max-age=300']);
  expect(page.headers['x-ratelimit-limit']).toBeUndefined();
  const etag = String(page.headers.etag);
  const again = await world.ask(`/${path}`, { headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
  expect((await world.ask(`/${path}`, { method: 'HEAD' })).headers.etag).toBe(etag);
  const { headers, body } = await request(world.baseUrl + path, { headers: { 'accept-encoding': 'gzip' } });
  expect(headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(Buffer.from(await body.arrayBuffer())).toString()).toBe(page.text);
  expect((await world.ask(`/${path}`, { method: 'POST' })).status).toBe(404);
});

test('The catalog leads to the document and the reference, and llms.txt to what it names', async () => {
  const { headers, json } = await world.ask('//.well-known/api-catalog');
  expect(headers['content-type']).toMatch(/^application\/linkset\+json/);
  expect(headers.link).toContain('rel="api-catalog"');
  const [{ anchor, 'service-desc': described, 'service-doc': shown }] = json.linkset;
  expect(anchor).toBe('/api/v1');
  for (const { href, type } of [...described, ...shown]) {
    const linked = await world.ask(`/${href}`);
    expect([linked.status, String(linked.headers['content-type']).split(';')[0]]).toEqual([200, type]);
  }
  const { text } = await world.ask('//llms.txt');
  const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, href]) => href!);
  expect(links.length).toBeGreaterThan(2);
  for (const href of links) expect((await world.ask(`/${href}`)).status, href).toBe(200);
});

test('The reference has every operation, and its links and those of the contract lead somewhere', async () => {
  const { text } = await world.ask('//docs');
  for (const { id } of keyOperations.filter((one) => !('operationId' in one)))
    expect(text).toContain(`id="${id}"`);
  for (const path of pages.filter((one) => one.startsWith('/docs') && !one.includes('.'))) {
    const { text: html } = await world.ask(`/${path}`);
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const missing = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id).filter((id) => !ids.has(id));
    expect(missing).toEqual([]);
    for (const [, href] of html.matchAll(/href="(\/docs[^"#]*)/g))
      expect((await world.ask(`/${href}`)).status, href).toBe(200);
    expect(html.replaceAll(world.baseUrl, '')).not.toMatch(
      /__[A-Z]+__|<script|src=|https?:\/\/(?!hooks\.example|receiver|\*:|localhost:3000)/,
    );
  }
});

test('No page repeats what a client sent', async () => {
  const headers = { host: 'stranger.example', 'x-forwarded-host': 'stranger.example' };
  for (const path of pages) {
    const { status, text } = await world.ask(`/${path}?q=<stranger.example>`, { headers });
    expect([status, text.includes('stranger.example')]).toEqual([200, false]);
  }
});

const printed: Readonly<Record<string, readonly string[]>> = {
  'first-call': ['"limits"', '"client_id"', 'Lead - New', 'Lead - New', 'Lead - New'],
  import: ['refused row-7', 'refused row-7'],
  sync: ['in step: 1', 'in step: 1'],
  reconciliation: ['compared 0', 'compared 0'],
  errors: ['email email_invalid', 'email_invalid'],
  limits: ['X-RateLimit-Remaining', 'read three times', 'read 0 of'],
  tools: ['read the log'],
  versions: [],
};
const blocksOf = (guide: string) => [...readFileSync(join(folder, `${guide}.md`), 'utf8').matchAll(block)];
const firstCall = (language: string) => blocksOf('first-call').find(([, of]) => of === language)![3]!;

/** A folder inside the repository, so that programs find the client, with the helpers. */
const guideFolder = async (key: string) => {
  const home = mkdtempSync(join(import.meta.dirname, '.guide-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const installed = join(home, 'node_modules/@causeway/client');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"type":"module","exports":"./index.js"}');
  writeFileSync(join(installed, 'index.js'), `export * from '${resolve(folder, '../client/index.ts')}';`);
  for (const [, , file, code] of blocksOf('first-call')) if (file) writeFileSync(join(home, file), code!);
  return { home, env: { ...process.env, CAUSEWAY_URL: world.baseUrl, CAUSEWAY_KEY: key } };
};

/** A company with a record of each kind that the calls of the reference name. */
const makeExamples = async () => {
  const company = await world.company();
  const { value: key } = await company.key();
  const ask = async (path: string, body?: object) =>
    (await world.ask(path, { key, ...(body && { method: 'POST', body }) })).json;
  const person = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com' };
  const { client_id: lead } = await ask('/integrations/leads', person);
  const { client_id: client } = await ask('/integrations/clients', { ...person, external_id: 'crm-88' });
  const { client_id } = await ask('/integrations/leads', { ...person, external_id: 'EXT-100001' });
  const { employee_id: affiliate } = await ask('/integrations/affiliates', person);
  const employee = await addEmployee(world, { company_id: company.id, first_name: 'Grace', last_name: 'M' });
  const types = { eventTypes: ['client.created'] };
  const { id: hook } = await ask('/webhooks/subscriptions', { url: receiver.url, ...types });
  const { id: event } = await ask('/events/test', { type: 'client.created' });
  await until('it is delivered', async () => {
    const { deliveries } = await ask(`/webhooks/subscriptions/${hook}/deliveries?state=succeeded`);
    return deliveries.length > 0;
  });
  const since = { kind: 'filter', since: '2026-01-15T00:00:00.000Z', states: ['succeeded'] };
  const { id: replay } = await ask(`/webhooks/subscriptions/${hook}/replays`, since);
  // A subscription has one replay at a time.
  const ids: Record<string, number> = { getEvent: event, getSubscriptionReplay: replay };
  for (const operation of ['createSubscriptionReplay', 'releaseHeldDeliveries', 'discardHeldDeliveries'])
    ids[operation] = (await ask('/webhooks/subscriptions', { url: receiver.url, ...types })).id;
  return { key, lead, client, person: client_id, affiliate, employee, hook, ids };
};

const block = /^```(sh|ts|js|python) ?(\S*)\n((?:(?!```).*\n)*)/gm;
const programs: Readonly<Record<string, readonly [ending: string, command: string]>> = {
  sh: ['sh', 'bash'],
  ts: ['mts', process.execPath],
  js: ['mjs', process.execPath],
  python: ['py', 'python3'],
};

test.each(guides)(
  'The programs of the guide %s run as they are',
  async (name) => {
    const programsOf = blocksOf(name).filter(([, , file]) => !file);
    const said = await Promise.all(
      programsOf.map(async ([, language, , code], at) => {
        const [ending, command] = programs[language!]!;
        const { value: key } = await (await world.company()).key();
        const { home, env } = await guideFolder(key);
        const program = join(home, `block-${at}.${ending}`);
        writeFileSync(program, code!);
        return (await promisify(execFile)(command, [program], { cwd: home, env })).stdout;
      }),
    );
    expect(said.map((text, at) => text.includes(printed[name]![at]!) || text)).toEqual(
      printed[name]!.map(() => true),
    );
  },
  60_000,
);

test.each(['sh', 'ts', 'python'])(
  'The calls of the reference run in %s',
  async (language) => {
    const { text } = await world.ask('//docs');
    const title = { sh: 'curl', ts: 'TypeScript', python: 'Python' }[language]!;
    const shown = [...text.matchAll(/<details name="code-(\w+)"[\s\S]*?(?=<details><summary>Answers)/g)].map(
      ([calls, id = '']) => {
        const code = new RegExp(`<summary>${title}</summary><pre><code>([^<]*)`).exec(calls)![1]!;
        return { id, code: code.replace(/&#(\d+);/g, (_, number) => String.fromCharCode(number)) };
      },
    );
    expect(shown.length).toBe(keyOperations.length);
    const made = await makeExamples();
    const placed = ({ id, code }: (typeof shown)[number]): string =>
      code
        .replace(/\b1042\b/, String(made.lead))
        .replace(/\b1040\b/, String(/Client/.test(id) ? made.client : made.person))
        .replace(/\b9000000000001042\b/, String(made.person))
        .replace(/\b16\b/, String(made.affiliate))
        .replace(/(_id"?: ?|_id":)7\b/g, `$1${made.employee}`)
        .replace(/\b42\b/, String(made.ids[id] ?? made.hook));
    // Some end what others need.
    const places = ['updateSubscription', 'deleteSubscription', 'erasePerson'];
    const ordered = shown.toSorted((a, b) => places.indexOf(a.id) - places.indexOf(b.id));
    // No receiver has failed.
    const codes = ordered.filter(({ id }) => id !== 'getIncident').map(placed);
    const { home, env } = await guideFolder(made.key);
    const program = {
      sh: () =>
        codes
          .map((code) => `${code.replace('curl -sS', 'curl -sS --fail-with-body')} || exit 1; echo`)
          .join('\n'),
      ts: () =>
        `${firstCall('ts').split('\n\nconst lead')[0]}\n${codes.map((code) => `{ ${code} }`).join('\n')}`,
      python: () => `from causeway import call\n${codes.join('\n')}`,
    }[language as 'sh'];
    const [ending, command] = programs[language]!;
    writeFileSync(join(home, `calls.${ending}`), program());
    await promisify(execFile)(command, [join(home, `calls.${ending}`)], { cwd: home, env });
  },
  60_000,
);

test('The guide to errors says what to do about each status and each code', () => {
  const text = readFileSync(join(folder, 'errors.md'), 'utf8');
  for (const { status } of Object.values(errorCodes))
    expect(text).toMatch(new RegExp(`^\\| ${status}\\b`, 'm'));
  for (const code of Object.keys(detailCodes))
    expect(text).toMatch(new RegExp(`^\\|.*\`${code}\`.*\\|.*\\|$`, 'm'));
});

describe('The pages of the portal', () => {
  test('Every path of the portal serves its page, with a policy that allows it to run and load only its own files', async () => {
    for (const path of ['//portal', '//portal/', '//portal/keys', '//portal/deliveries/1/2/0']) {
      const { status, headers, text } = await world.ask(path);
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expect(headers).toMatchObject({
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
      for (const rule of ["frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"])
        expect(policy.split('; ')).toContain(rule);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers['permissions-policy']).toContain('camera=()');
      // Over plain http a browser would ignore it.
      expect(headers['strict-transport-security']).toBeUndefined();
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style| style=| on\w+=/i);
    }
  });

  test('The files of the page are served compressed and cached forever; other files are not found', async () => {
    const page = await world.ask('//portal/');
    const files = [...page.text.matchAll(/(?:src|href)="(\/portal\/assets\/[^"]+)"/g)].map(
      (match) => match[1]!,
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const { status, headers } = await world.ask(`/${file}`, { headers: { 'accept-encoding': 'br' } });
      expect([file, status]).toEqual([file, 200]);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      if (/\.(?:js|css)$/.test(file)) expect(headers['content-encoding']).toBe('br');
    }
    expect((await world.ask('//portal/%2e%2e/package.json')).status).toBe(404);
    const post = await world.ask('//portal/', { method: 'POST', body: '{}' });
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});
