import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keyspaceNames, readKeyspace } from '../keyspaces.ts';
import { withValues } from './normalize.ts';

const run = promisify(execFile);

/**
 * Asks the planner of Vitess how it runs each statement: the operators of its plan, the outermost first, or `REFUSED` with
 * its message.
 * @param program Vitess's `vtexplain`, which plans without a cluster.
 * @param schema the statements that create the tables of both keyspaces.
 */
export const explain = async (
  program: string,
  schema: readonly string[],
  statements: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-statements-'));
  chmodSync(folder, 0o755);
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const vschema = write(
    'vschema.json',
    JSON.stringify(Object.fromEntries(keyspaceNames.map((name) => [name, readKeyspace(name)]))),
  );
  const ddl = write('schema.sql', schema.map((one) => `${one};\n`).join(''));
  const verdicts = new Map(statements.filter(isLock).map((one) => [one, 'Lock']));
  const asked = statements.filter((one) => !isLock(one));
  try {
    const file = write('statements.sql', asked.map((one) => `${withValues(one)};\n`).join(''));
    const { stdout, error } = await ask(program, [
      '--normalize',
      ...['--vschema-file', vschema, '--schema-file', ddl, '--sql-file', file],
      ...['--shards', '2', '--output-mode', 'json'],
    ]);
    if (error === undefined) {
      for (const [at, { Plans }] of (JSON.parse(stdout) as Explained[]).entries())
        verdicts.set(asked[at]!, verdictOf(Plans));
    } else if (asked.length === 1) verdicts.set(asked[0]!, `REFUSED ${error}`);
    else {
      // It ends at the first statement that it refuses.
      const half = Math.ceil(asked.length / 2);
      for (const part of [asked.slice(0, half), asked.slice(half)])
        for (const [one, verdict] of await explain(program, schema, part)) verdicts.set(one, verdict);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return verdicts;
};

/** vtgate sends lock functions to one fixed shard. vtexplain, which simulates each statement, ends at one. */
const isLock = (statement: string): boolean => /^SELECT (?:GET|RELEASE)_LOCK\(/.test(statement);

const ask = async (
  program: string,
  args: readonly string[],
): Promise<{ readonly stdout: string; readonly error?: string }> => {
  // Vitess refuses to run as root.
  const [command = '', ...prefix] =
    process.getuid?.() === 0
      ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', program]
      : [program];
  try {
    return await run(command, [...prefix, ...args], { maxBuffer: 2 ** 30, timeout: 300_000 });
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string };
    const said = /^(?:Error|ERROR): (?:vtexplain execute error in '[\s\S]*?': )?(.*)$/m.exec(stderr)?.[1];
    return { stdout: '', error: (said ?? message).slice(0, 300) };
  }
};

const nobody = 65534;

interface Explained {
  readonly Plans: readonly { readonly Instructions?: Operator }[] | null;
}

interface Operator {
  readonly OperatorType: string;
  readonly Variant?: string;
  readonly Inputs?: readonly Operator[];
}

/** A write of a row that is found by a lookup table has plans for that table too. */
const verdictOf = (plans: Explained['Plans']): string =>
  [...new Set((plans ?? []).flatMap(({ Instructions }) => (Instructions ? describe(Instructions) : [])))]
    .sort()
    .join(' + ');

const describe = ({ OperatorType, Variant, Inputs = [] }: Operator): string =>
  [`${OperatorType}${Variant ? `:${Variant}` : ''}`, ...Inputs.map(describe)].join(' > ');
