import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NotedStatement } from '../../../services/runtime/database/tenant-guard.ts';
import { normalize } from './normalize.ts';

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
