import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  body,
  has,
  type Languages,
  now,
  program,
  secret,
  sign,
  testReceivers,
  unless,
} from './testing/languages.ts';
import { provideRuntime } from './testing/runtimes.ts';

/** Runs the programs in every language whose tools are installed or available from Debian. */

const [php, ruby] = await Promise.all([provideRuntime('php'), provideRuntime('ruby')]);

const languages: Languages = {
  Node: { file: 'mjs', command: (file) => [process.execPath, file] },
  TypeScript: { file: 'mts', command: (file) => [process.execPath, file] },
  Python: {
    file: 'py',
    missing: unless(has('python3', '--version'), 'there is no python3'),
    command: (file) => ['python3', file],
  },
  PHP: {
    file: 'php',
    missing: unless(php !== undefined, 'there is no php, and no apt to fetch it'),
    command: (file, port) => [php!.command, ...php!.args, '-S', `127.0.0.1:${port}`, file],
  },
  Ruby: {
    file: 'rb',
    missing: unless(ruby !== undefined, 'there is no ruby, and no apt to fetch it'),
    command: (file) => [ruby!.command, ...ruby!.args, file],
    env: ruby?.env,
  },
  Java: {
    file: 'java',
    missing: unless(has('java', '--version'), 'there is no java'),
    command: (file) => ['java', file],
  },
  'C#': {
    file: 'cs',
    missing: unless(has('dotnet', 'run', '--help'), 'there is no .NET SDK; Debian has none either'),
    command: (file) => ['dotnet', 'run', file],
  },
};

testReceivers(languages);

it('the check of the guide accepts only genuine deliveries: bash', () => {
  const file = program('verify.sh');
  const check = (timestamp: number | string, signature: string, own = secret): boolean => {
    try {
      const env = { ...process.env, WEBHOOK_SECRET: own };
      execFileSync('bash', [file, String(timestamp), signature], { input: body, env, stdio: 'pipe' });
      return true;
    } catch {
      return false;
    }
  };
  const at = now();
  expect(check(at, sign(secret, at))).toBe(true);
  expect(check(at, `${sign('whsec_new', at)},${sign(secret, at)}`)).toBe(true);
  expect(check(at, sign('whsec_other', at))).toBe(false);
  expect(check(at - 3600, sign(secret, at - 3600))).toBe(false);
  expect(check(at, sign('', at), '')).toBe(false);
  // A shell executes what stands in the index of an array.
  const mark = `${file}.executed`;
  expect(check(`a[$(touch ${mark})0]`, sign(secret, at))).toBe(false);
  expect(existsSync(mark)).toBe(false);
});
