import { writeFileSync } from 'node:fs';
import { explain } from '../../deploy/vitess/statements/explain.ts';
import {
  type Listed,
  listFile,
  readList,
  readNotes,
  renderList,
  withoutVariants,
} from '../../deploy/vitess/statements/list.ts';
import type { Outcome, Stage } from './stage.ts';

/** Asks the planner about every listed statement, and about those that a run of the tests has noted. */
export const explainStatements = async ({ vitess, report, options }: Stage): Promise<Outcome> => {
  const before = readList();
  const reasons = new Map(before.map(({ statement, reason }) => [statement, reason]));
  for (const [statement, { reason = '' }] of readNotes(options.notes))
    if (reason || !reasons.has(statement)) reasons.set(statement, reason);
  const statements = withoutVariants([...reasons.keys()]);
  const verdicts = await report.step(`${statements.length} statements`, () =>
    explain(vitess.url, statements),
  );
  const list = statements.map(
    (statement): Listed => ({
      statement,
      verdict: verdicts.get(statement)!,
      reason: reasons.get(statement)!,
    }),
  );
  if (options.write) writeFileSync(listFile, renderList(list));
  const kinds = Map.groupBy(list, ({ verdict }) => verdict.split(' ')[0]!);
  return {
    tables: [
      {
        title: 'Statements by the plan that Vitess makes',
        columns: ['plan', 'statements'],
        rows: [...kinds].map(([verdict, some]) => [verdict, `${some.length}`]),
      },
    ],
    complaints: list
      .filter(
        ({ verdict, reason }) => verdict.startsWith('REFUSED') || (verdict.includes('Scatter') && !reason),
      )
      .map(({ statement, verdict }) => `${verdict}: ${statement}`),
  };
};
