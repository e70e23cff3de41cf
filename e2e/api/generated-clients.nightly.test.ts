import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { afterAll, expect, test } from 'vitest';
import { openWorld } from './support/world.ts';

// Clients that common generators create from the OpenAPI document, used against the cluster.

const world = await openWorld();
const root = resolve(import.meta.dirname, '../..');
/** Inside the repository, so that generated code finds the packages that it imports. */
const folder = mkdtempSync(join(import.meta.dirname, '.generated-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const documentFile = join(folder, 'openapi.json');
writeFileSync(documentFile, (await world.ask('/openapi.json')).text);

/** Runs a program to its end and returns its output, or the message of its error. */
const run = (program: string, ...args: readonly string[]): Promise<string> =>
  new Promise((done, reject) =>
    execFile(program, args, { cwd: folder }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : done(stdout + stderr),
    ),
  );

test('a client compiles and works with the types of openapi-typescript', async () => {
  await run(
    process.execPath,
    join(root, 'e2e/node_modules/openapi-typescript/bin/cli.js'),
    documentFile,
    '--output',
    join(folder, 'schema.d.ts'),
  );
  const program = join(folder, 'round-trip.ts');
  copyFileSync(join(import.meta.dirname, 'clients/round-trip.ts.txt'), program);
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: { noEmit: true },
    files: ['round-trip.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run(process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', folder);
  const { roundTrip } = await import(program);
  const { value } = await (await world.company()).key();
  expect(await roundTrip(world.baseUrl, value)).toBe('done');
}, 120_000);

const version = '0.29.1';
const python = providePython();

/** A virtual environment with the generator, in the cache; undefined if the machine has no Python for it. */
function providePython(): string | undefined {
  const env = readEnv();
  const cache = env.CAUSEWAY_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'causeway');
  const home = join(cache, `openapi-python-client-${version}`);
  const program = join(home, 'bin/python');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, 'python-'));
  try {
    execFileSync('python3', ['-m', 'venv', unfinished], { stdio: 'ignore' });
    const pip = ['-m', 'pip', 'install', '--quiet', `openapi-python-client==${version}`, 'httpx', 'attrs'];
    execFileSync(join(unfinished, 'bin/python'), pip, { stdio: 'ignore', timeout: 120_000 });
    // Its programs are run with `python -m`, so that the folder can be moved.
    renameSync(unfinished, home);
    return program;
  } catch {
    rmSync(unfinished, { recursive: true, force: true });
    return undefined;
  }
}

test.skipIf(python === undefined)(
  'openapi-python-client generates a client that imports and works (needs python3 and PyPI)',
  async () => {
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      'package_name_override: causeway_client\nproject_name_override: causeway-client\npost_hooks: []\n',
    );
    const args = [
      'generate',
      '--path',
      documentFile,
      '--output-path',
      join(folder, 'python'),
      '--config',
      config,
    ];
    const said = await run(python!, '-m', 'openapi_python_client', ...args, '--meta', 'none', '--overwrite');
    expect(said).not.toMatch(/warning|error/i);
    const { value } = await (await world.company()).key();
    copyFileSync(join(import.meta.dirname, 'clients/round-trip.py'), join(folder, 'round-trip.py'));
    renameSync(join(folder, 'python'), join(folder, 'causeway_client'));
    expect((await run(python!, 'round-trip.py', world.baseUrl, value)).trim()).toBe('done');
  },
  120_000,
);
