import { relative, resolve } from 'node:path';
import { readList, readNotes } from './list.ts';
import { createVariants } from './variants.ts';

const root = resolve(import.meta.dirname, '../../../..');

/**
 * Compares the statements that a run of the tests has noted in folders with the list.
 * @returns what is wrong, as lines for the terminal; none if every noted statement is listed.
 */
export const compare = (folders: readonly string[]): readonly string[] => {
  const noted = readNotes(folders);
  if (noted.size === 0) return ['No statement was noted: the integration and API tests did not run.'];
  const isListed = createVariants(readList().map(({ statement }) => statement));
  const missing = [...noted].filter(([statement]) => !isListed(statement));
  if (missing.length === 0) return [];
  return [
    ...missing.map(
      ([statement, { file }]) => `${file ? relative(root, file) : 'unknown file'}: ${statement}`,
    ),
    `${missing.length} SQL statements are new or changed. Vitess has to run them too (deploy/data/README.md, "Vitess"). List ` +
      `them with the verdicts of its planner: npm run statements -- ${folders.join(' ')}`,
  ];
};
