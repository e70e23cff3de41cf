import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { runTerminal } from '../../proto/client/terminal/run.ts';
import { type Json, openWorld } from './support/world.ts';

const world = await openWorld();
const folder = mkdtempSync(join(tmpdir(), 'causeway-import-'));
cleanUp(() => rmSync(folder, { recursive: true, force: true }));

const csv = (count: number, last = 'Byron'): string =>
  ['First Name,Last name,E-mail,external_id']
    .concat(Array.from({ length: count }, (_, at) => `Zoë ${at},${last},p${at}@example.com,i-${at}`))
    .join('\n');

let files = 0;
const connect = async (limits = {}) => {
  const { value: key } = await (await world.company({ read: 1000, write: 1000, ...limits })).key();
  const env = { CAUSEWAY_URL: world.baseUrl, CAUSEWAY_KEY: key };
  const write = (content: string): string => {
    const path = join(folder, `${files++}.csv`);
    writeFileSync(path, content);
    return path;
  };
  const run = async (path: string, ...args: readonly string[]) => {
    let said = '';
    const out = (text: string): void => {
      said += text;
    };
    const code = await runTerminal(['import', path, ...args], {
      ...{ env, out, err: out },
      signal: new AbortController().signal,
    });
    return { code, said };
  };
  const people = async (): Promise<readonly Json[]> => {
    const found: Json[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await world.ask(`/integrations/people?limit=200${cursor}`, { key });
      found.push(...json.people);
      if (!json.hasMore) return found;
      cursor = `&cursor=${json.nextCursor}`;
    }
  };
  return { env, write, run, people };
};

test('imports what is right, and gives back what is refused, to be corrected and imported', async () => {
  const { write, run, people } = await connect();
  const path = write(
    `${csv(120)}\nA,"B, ""C""",nope,x-1\n=A,B,b@example.com,i-5\nA,B,${'c'.repeat(1 << 20)},x-2\nA,B`,
  );
  const checked = await run(path, '--only', 'check');
  expect(checked).toEqual({ code: 0, said: expect.stringContaining('E-mail → email') });
  expect(checked.said).toContain('124 rows for leads, of which 3 break a rule');
  expect([await people(), existsSync(`${path}.import`)]).toEqual([[], false]);

  const first = await run(path);
  expect(first).toEqual({ code: 1, said: expect.stringContaining('121 rows written, 3 refused') });
  expect(await people()).toHaveLength(120);
  expect((await people()).find(({ external_id }) => external_id === 'i-5')).toMatchObject({
    first_name: '=A',
  });
  const refused = path.replace('.csv', '.refused.csv');
  const text = readFileSync(refused, 'utf8');
  expect(text).toContain('"B, ""C""",nope,x-1,email must be one valid email address');
  expect((await run(path)).said).toContain('was imported at');

  writeFileSync(refused, text.replace('nope', 'ok@example.com'));
  expect((await run(refused)).said).toContain('1 rows written, 2 refused');
  expect(await people()).toHaveLength(121);
});

test('a later row of a record is written after an earlier one, also in another batch', async () => {
  const { write, run, people } = await connect();
  const path = write(`${csv(150)}\n${csv(150, 'Later').replace(/.*\n/, '')}`);
  expect((await run(path)).said).toContain('300 rows written, 0 refused');
  expect(new Set((await people()).map(({ last_name }) => last_name))).toEqual(new Set(['Later']));
});

test('what the interface refuses is given back too, and rows of one address go one after another', async () => {
  const { write, run, people } = await connect();
  const path = write(
    `First name,last name,email,affiliate_id\n${'A,B,a@example.com,\n'.repeat(3)}A,B,b@example.com,4711`,
  );
  expect((await run(path, '--mode', 'create')).said).toContain('3 rows written, 1 refused');
  expect(readFileSync(path.replace('.csv', '.refused.csv'), 'utf8')).toMatch(/4711,.*affiliate_id/);
  expect(await people()).toHaveLength(3);
});

test('killed at any time, it goes on without a double; two at once are one', async () => {
  const { env, write, run, people } = await connect();
  const path = write(csv(900).replaceAll(/,i-\d+$/gm, ','));
  const main = resolve(import.meta.dirname, '../../proto/client/terminal/main.ts');
  writeFileSync(`${path}.import.lock`, String(process.pid));
  expect((await run(path)).said).toContain('another import of the file is under way');
  rmSync(`${path}.import.lock`);
  for (const batches of [1, 2, 3]) {
    const child = spawn(process.execPath, [main, 'import', path], { env, stdio: 'ignore' });
    const exited = once(child, 'exit');
    await until('some batches are answered', () => {
      const journal = existsSync(`${path}.import`) ? readFileSync(`${path}.import`, 'utf8') : '';
      return journal.split('\n').length > batches + 1 || child.exitCode !== null;
    });
    child.kill('SIGKILL');
    await exited;
    // A kill may cut a line.
    appendFileSync(`${path}.import`, '{"batches":');
  }
  expect(await run(path)).toEqual({
    code: 0,
    said: expect.stringMatching(/Going on after [\s\S]*900 rows written, 0 refused/),
  });
  const found = await people();
  expect([found.length, new Set(found.map(({ email }) => email)).size]).toEqual([900, 900]);
}, 300_000);

test('a file that was changed, or cannot be noted, writes nothing more', async () => {
  const { write, run, people } = await connect();
  const path = write(csv(3));
  await run(path);
  const journal = readFileSync(`${path}.import`, 'utf8');
  writeFileSync(`${path}.import`, `${journal.split('\n')[0]}\n`);
  writeFileSync(path, csv(3, 'Changed'));
  expect(await run(path)).toEqual({
    code: 1,
    said: expect.stringContaining('has changed since this import began'),
  });
  const full = write(csv(3, 'Full'));
  mkdirSync(`${full}.import.lock.${process.pid}`);
  expect(await run(full)).toEqual({ code: 1, said: expect.stringContaining('EISDIR') });
  const names = async () => (await people()).map(({ last_name }) => last_name);
  expect(await names()).toEqual(['Byron', 'Byron', 'Byron']);
  // The next export, after an import that was finished, is another import.
  writeFileSync(`${path}.import`, journal);
  expect(await run(path)).toEqual({ code: 0, said: expect.stringContaining('3 rows written') });
  expect(await names()).toEqual(['Changed', 'Changed', 'Changed']);
});

test.each([
  [2, 'is no field', 'first_name,emial\nA,b'],
  [2, 'is there twice', 'email,email\nA,b'],
  [1, 'the file is empty', ''],
  [0, '0 rows for leads', 'email\n'],
])('exits with %i and says that it %s', async (code, sentence, content) => {
  const { write, run } = await connect();
  expect(await run(write(content))).toEqual({ code, said: expect.stringContaining(sentence) });
});
