import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cleanUp, compileCache } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { verifyPassword } from '../passwords/password.ts';
import { testWorld } from '../testing/boot.ts';
import { run } from './run.ts';

const world = await testWorld();
const service = await world.startAccess();

const emptyHome = await mkdtemp(join(tmpdir(), 'causeway-test-cli-'));
cleanUp(() => rm(emptyHome, { recursive: true }));

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Options {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

const causeway = async (
  line: CommandLine,
  { env = { NATS_URL: world.nats.url } }: Options = {},
): Promise<Outcome> => {
  const said = { out: '', err: '' };
  const code = await run(argumentsOf(line), {
    env,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  return { code, ...said };
};

const program = async (
  line: CommandLine,
  { env = { NATS_URL: world.nats.url }, input = '' }: Options = {},
): Promise<Outcome> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...argumentsOf(line)], {
    env: { ...compileCache, HOME: emptyHome, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const [code, out, err] = await Promise.all([
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, err };
};
type CommandLine = string | readonly string[];
const argumentsOf = (line: CommandLine): readonly string[] =>
  typeof line === 'string' ? line.split(' ') : line;
const json = async (line: CommandLine) => {
  const { code, out, err } = await causeway([...argumentsOf(line), '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
};
const newCompany = async (name = 'Acme'): Promise<string> =>
  String((await json(['company', 'create', '--name', name])).company_id);

test('a company is created and listed', async () => {
  const made = await json(['company', 'create', '--name', 'Nordwind & Söhne']);
  expect(made).toEqual({
    company_id: expect.any(Number),
    name: 'Nordwind & Söhne',
    created_utc: expect.any(String),
  });
  const { companies } = await json('company list');
  expect(companies).toContainEqual(made);
});

test("a portal owner's password is generated, or read from standard input and then not printed", async () => {
  const company = await newCompany();
  const made = await json(`portal-owner create --company ${company} --email ada@example.com`);
  expect(made).toEqual({
    id: expect.any(Number),
    company_id: Number(company),
    email: 'ada@example.com',
    password: expect.any(String),
  });
  const hash = async (id: number) =>
    (
      await world.database.query<{ password_hash: string }>(
        'SELECT password_hash FROM portal_users WHERE id = ?',
        [id],
      )
    )[0]!.password_hash;
  expect(verifyPassword(made.password, await hash(made.id))).toBe(true);

  const args = `portal-owner create --company ${company} --email grace@example.com --password-stdin --json`;
  const { code, out } = await program(args, { input: 'a password of her own\n' });
  expect(code).toBe(0);
  const given = JSON.parse(out);
  expect(given).toEqual({ id: expect.any(Number), company_id: Number(company), email: 'grace@example.com' });
  expect(verifyPassword('a password of her own', await hash(given.id))).toBe(true);

  const short = await program(args, { input: 'short\n' });
  expect(short).toEqual({ code: 1, out: '', err: 'causeway: password must be at least 12 characters\n' });
});

test('a member is removed', async () => {
  const company = await newCompany();
  const { id } = await json(`portal-owner create --company ${company} --email ada@example.com`);
  await json(`portal-owner create --company ${company} --email bob@example.com`);
  const removed = await json(`member remove --company ${company} --email ada@example.com --keep-keys 1,2`);
  expect(removed).toEqual({ id, company_id: Number(company), email: 'ada@example.com', revoked_keys: [] });
  const again = await causeway(`member remove --company ${company} --email ada@example.com`);
  expect(again.err).toContain('email is not a member of this company');
  const last = await causeway(`member remove --company ${company} --email bob@example.com`);
  expect(last.err).toContain('a company needs an owner');
  const wrongChannel = await causeway(
    `member remove --company ${company} --email bob@example.com --keep-channels fax`,
  );
  expect(wrongChannel.code).not.toBe(0);
});

test('an owner who lost the password gets a link', async () => {
  const company = await newCompany();
  const email = 'edith@example.com';
  const { id } = await json(`portal-owner create --company ${company} --email ${email}`);
  expect(await json(`portal-owner reset --company ${company} --email ${email}`)).toEqual({
    id,
    company_id: Number(company),
    email,
    two_factor_reset: false,
    link: expect.stringMatching(/^\/portal\/password#[\w-]{43}$/),
    expires_utc: expect.any(String),
  });
  const reset = `portal-owner reset --company ${company} --email ${email}`;
  const { out } = await causeway(reset);
  expect(out).toMatch(/^link +\/portal\/password#[\w-]{43}$/m);
  expect(out).toContain('this is the only time it is shown');
  expect(out).toMatch(/^two factor reset +no$/m);
  expect((await causeway(`${reset} --two-factor`)).out).toMatch(/^two factor reset +yes$/m);
});

test('a terminal shows the value once, and says so', async () => {
  const company = await newCompany();
  const { code, out, err } = await causeway(`key create --company ${company} --name Zapier --scopes admin`);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^value +crm_\d+_[0-9A-Za-z]{40}$/m);
  expect(out).toContain('this is the only time it is shown');
  const list = await causeway(`key list --company ${company}`);
  expect(list.out).toMatch(/^id +name +scopes +masked .*\n\d+ +Zapier +admin +crm_\d+_…\w{4} .* yes .*\n$/);
  expect(list.out).not.toContain('\u001b');
});

test.each([
  [['key', 'revoke', '--id', '999999'], 'key not found'],
  [['key', 'list', '--company', '5'], 'company not found'],
  [['key', 'create', '--company', '5', '--name', 'k', '--scopes', 'admin'], 'company not found'],
  [['limits', 'set', '--company', '5', '--read', '1'], 'company not found'],
  [['limits', 'set', '--key', '999999', '--read', '1'], 'key not found'],
  [['portal-owner', 'create', '--company', '5', '--email', 'x@example.com'], 'company not found'],
  [['company', 'create', '--name', ' '], 'name is required'],
  [
    ['portal-owner', 'create', '--company', '1001', '--email', 'nobody'],
    'email must be one valid email address',
  ],
])('%s is refused in one sentence, with status 1: %s', async (args, sentence) => {
  expect(await causeway([...args, '--json'])).toEqual({ code: 1, out: '', err: `causeway: ${sentence}\n` });
});

test('an invalid command line exits with status 2 and names the help', async () => {
  expect(await program('key create --company x --name k --scopes admin')).toEqual({
    code: 2,
    out: '',
    err: 'causeway: --company takes a positive whole number, not "x"\nSee: npm run -s causeway -- key create --help\n',
  });
});

test('help needs no cluster', async () => {
  const { code, out } = await program('key create --help', { env: { STACK_HOME: emptyHome } });
  expect(code).toBe(0);
  expect(out).toContain('--scopes A,B');
});

test('without a cluster, the message says how to start one', async () => {
  expect(await causeway('company list', { env: { STACK_HOME: emptyHome } })).toEqual({
    code: 1,
    out: '',
    err: `causeway: no cluster runs in ${emptyHome}: start one with \`npm start\`, or set STACK_HOME or NATS_URL\n`,
  });
  const { code, err } = await causeway('company list', { env: { NATS_URL: 'nats://127.0.0.1:1' } });
  expect(code).toBe(1);
  expect(err).toBe(
    'causeway: the cluster of NATS_URL does not answer: is it running? `npm start` starts it\n',
  );
});

test('the cluster of STACK_HOME takes precedence over NATS_URL', async () => {
  await writeFile(join(emptyHome, 'stack.json'), JSON.stringify({ natsUrl: world.nats.url }));
  const { code, err } = await causeway('company list', {
    env: { STACK_HOME: emptyHome, NATS_URL: 'nats://127.0.0.1:1' },
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

test('a command for webhooks says so when that service is down', async () => {
  expect(await causeway('secrets reencrypt')).toEqual({
    code: 1,
    out: '',
    err: 'causeway: the cluster runs, but its webhooks service does not: look at its log, or start it again\n',
  });
});

test('a cluster without access gets a different message than no cluster', async () => {
  await service.drain();
  expect(await causeway('company list')).toEqual({
    code: 1,
    out: '',
    err: 'causeway: the cluster runs, but its access service does not: look at its log, or start it again\n',
  });
});
