import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { NotedStatement } from '../../../services/runtime/database/tenant-guard.ts';
import { normalize } from './explain.ts';

/** A statement of the services, and what the planner of Vitess makes of it. */
export interface Listed {
  readonly statement: string;
  /** The operators of its plan, the outermost first, or `REFUSED` with the planner's message. */
  readonly verdict: string;
  /** Why it may concern several companies; empty if it names one. */
  readonly reason: string;
}

export const listFile = join(import.meta.dirname, 'statements.txt');

/** Each statement has three lines: itself, its verdict, and why it may concern several companies. */
export const readList = (): readonly Listed[] =>
  (existsSync(listFile) ? readFileSync(listFile, 'utf8') : '')
    .split('\n\n')
    .map((entry) => entry.split('\n').filter((line) => !line.startsWith('#')))
    .filter(([statement]) => statement)
    .map(([statement = '', verdict = '', reason = '']) => ({
      statement,
      verdict: verdict.trim(),
      reason: reason.trim(),
    }));

export const renderList = (list: readonly Listed[]): string =>
  [
    '# The SQL statements of the services, with the verdict of the planner of Vitess and, where a statement may concern\n' +
      '# several companies, why. `npm run scale-out -- statements --write` writes this file (../README.md).',
    ...list
      .toSorted((a, b) => (a.statement < b.statement ? -1 : 1))
      .map(({ statement, verdict, reason }) => [statement, `  ${verdict}`, reason && `  ${reason}`])
      .map((lines) => lines.filter(Boolean).join('\n')),
  ]
    .join('\n\n')
    .concat('\n');

/** The statements in the notes of runs of the tests (`STATEMENT_NOTES`), each as it was sent first. */
export const readNotes = (folders: readonly string[]): ReadonlyMap<string, NotedStatement> => {
  const noted = new Map<string, NotedStatement>();
  for (const folder of folders)
    for (const file of globSync('*.jsonl', { cwd: folder }))
      for (const line of readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean)) {
        const note = JSON.parse(line) as NotedStatement;
        const statement = normalize(note.sql);
        if (!noted.get(statement)?.reason) noted.set(statement, note);
      }
  return noted;
};

const root = resolve(import.meta.dirname, '../../..');

/** The statements that a run of the tests has noted in a folder and the list lacks, as lines for the terminal. */
export const unlistedStatements = (folder: string): readonly string[] => {
  const noted = readNotes([folder]);
  if (noted.size === 0) return ['No statement was noted: the integration and API tests did not run.'];
  const isListed = createVariants(readList().map(({ statement }) => statement));
  const missing = [...noted].filter(([statement]) => !isListed(statement));
  if (missing.length === 0) return [];
  return [
    ...missing.map(
      ([statement, { file }]) => `${file ? relative(root, file) : 'unknown file'}: ${statement}`,
    ),
    `${missing.length} SQL statements are new or changed, and Vitess has to run them too. List them with the verdicts of ` +
      `its planner: npm run scale-out -- statements --notes ${folder} --write`,
  ];
};

/**
 * Whether a statement is in the list, or differs from listed ones only in its optional conditions, assignments, order and
 * index hint: each is in the list, but not all their combinations. The statement has all conditions of a listed one, so
 * its verdict is no worse: a further condition moves no statement to another shard.
 */
export const createVariants = (listed: readonly string[]): ((statement: string) => boolean) => {
  const variants = openVariants();
  for (const statement of listed) variants.add(statement);
  return variants.has;
};

/** Those that say something new, in order: no other is a variant of those before it. */
export const withoutVariants = (statements: readonly string[]): readonly string[] => {
  const kept = openVariants();
  return statements
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .filter((statement) => {
      const isNew = !kept.has(statement);
      if (isNew) kept.add(statement);
      return isNew;
    });
};

const openVariants = () => {
  const known = new Map<string, Known>();
  return {
    add: (statement: string): void => {
      const { frame, conditions, others } = takeApart(statement);
      const one = known.get(frame) ?? { parts: new Set<string>(), listed: [] };
      for (const part of [...conditions, ...others]) one.parts.add(part);
      one.listed.push(conditions);
      known.set(frame, one);
    },
    has: (statement: string): boolean => {
      const { frame, conditions, others } = takeApart(statement);
      const one = known.get(frame);
      return (
        one !== undefined &&
        [...conditions, ...others].every((part) => one.parts.has(part)) &&
        one.listed.some((some) => some.every((part) => conditions.includes(part)))
      );
    },
  };
};

/** What statements with the same frame are built from. */
interface Known {
  readonly parts: Set<string>;
  /** The conditions of each. */
  readonly listed: (readonly string[])[];
}

/** The statement without the conditions joined by `and` in the outermost WHERE and its other optional parts, and these. */
const takeApart = (
  statement: string,
): { readonly frame: string; readonly conditions: readonly string[]; readonly others: readonly string[] } => {
  let conditions: readonly string[] = [];
  const others: string[] = [];
  const frame = outermost(statement)
    .replace(/^(\w+)( \/\*\+.*?\*\/)/, (_, verb: string, hint: string) => {
      others.push(hint);
      return verb;
    })
    .replace(/^(update .*?) set (.*?)(?= where |$)/i, (_, before: string, list: string) => {
      others.push(...list.split(', ').map((part) => `set ${part}`));
      return `${before} set …`;
    })
    .replace(/ order by .*?(?= limit | for update|$)/i, (order) => {
      others.push(order);
      return '';
    })
    .replace(/ where (.*?)(?= group by | having | limit | for update|$)/i, (_, list: string) => {
      conditions = conditionsOf(list);
      return ' where …';
    });
  return { frame, conditions, others };
};

/** Those joined by `and`, also in parentheses of their own. */
const conditionsOf = (list: string): readonly string[] =>
  list.split(/ and /i).flatMap((part) => {
    const inner = /^\(([^()]|\([^()]*\))*\)$/.test(part) ? outermost(part.slice(1, -1)) : undefined;
    if (inner === undefined || / or /i.test(inner)) return part === 'TRUE' ? [] : [part];
    return conditionsOf(inner);
  });

/** What is in parentheses keeps its commas and words, as one character each. */
const outermost = (text: string): string => {
  let depth = 0;
  return [...text.replaceAll('\u00a0', ' ')]
    .map((character) => {
      if (character === '(') depth++;
      else if (character === ')') depth--;
      const isInside = depth > 0 || character === ')';
      return isInside && character === ' ' ? '\u00a0' : character;
    })
    .join('');
};
