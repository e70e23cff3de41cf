import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { promisify } from 'node:util';
import type { Program } from '../../../deploy/local/toolchain.ts';
import type { Table } from './table.ts';

/** The machine of the measurements, and the version of every given program. */
export const describeMachine = async (programs: Readonly<Record<string, Program>>): Promise<Table> => {
  const cores = cpus();
  const versions = await Promise.all(
    Object.entries(programs).map(async ([name, program]) => [name, await versionOf(program)]),
  );
  return {
    title: 'Machine',
    columns: ['part', 'what'],
    texts: 2,
    rows: [
      ['processor', `${cores[0]?.model.trim() ?? 'unknown'}, ${cores.length} cores`],
      ['memory', `${(totalmem() / 2 ** 30).toFixed(1)} GiB`],
      ['system', `${distribution()}, Linux ${release()}, ${process.arch}`],
      ['Node', process.version],
      ...versions.map(([name = '', version = '']) => [name, version]),
    ],
  };
};

const versionOf = async ({ command, args }: Program): Promise<string> => {
  const run = promisify(execFile)(command, [...args, '--version']);
  // wrk prints its version with its usage and exits with an error.
  const { stdout, stderr } = await run.catch((error: { stdout?: string; stderr?: string }) => error);
  return /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown';
};

const distribution = (): string => {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
  } catch {
    return 'Linux';
  }
};
