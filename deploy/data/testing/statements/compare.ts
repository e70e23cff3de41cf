import { join, relative, resolve } from 'node:path';
import { listFile, readList, readNotes } from './list.ts';
import { isSameSince } from './same-since.ts';
import { createVariants } from './variants.ts';

const root = resolve(import.meta.dirname, '../../../..');
/** The code that builds statements for all services. */
const kit = join(root, 'services/runtime/database');

export interface Comparison {
  /** What is wrong, as lines for the terminal; none if every statement is listed that new or changed code has sent. */
  readonly problems: readonly string[];
  /**
   * Statements that are not listed although their code has not changed since: no test sends them in every run, only a
   * race does. They belong in the list, but fail no run.
   */
  readonly rare: readonly string[];
}

/** Compares the statements that a run of the tests has noted in folders with the list. */
export const compare = (folders: readonly string[]): Comparison => {
  const noted = readNotes(folders);
  if (noted.size === 0)
    return { problems: ['No statement was noted: the integration and API tests did not run.'], rare: [] };
  const isListed = createVariants(readList().map(({ statement }) => statement));
  const missing = [...noted].filter(([statement]) => !isListed(statement));
  const lineOf = ([statement, { file }]: (typeof missing)[number]) =>
    `${file ? relative(root, file) : 'unknown file'}: ${statement}`;
  const { same = [], changed = [] } = Object.groupBy(missing, ([, { file }]) =>
    file && isSameSince(root, listFile, [file, kit]) ? 'same' : 'changed',
  );
  const command = `npm run statements -- ${folders.join(' ')}`;
  return {
    problems:
      changed.length === 0
        ? []
        : [
            ...changed.map(lineOf),
            `${changed.length} SQL statements are new or changed. Vitess has to run them too (deploy/data/README.md, ` +
              `"Vitess"). List them with the verdicts of its planner: ${command}`,
          ],
    rare: same.map((one) => `${lineOf(one)}\n    Rarely sent, and not listed yet: ${command}`),
  };
};
