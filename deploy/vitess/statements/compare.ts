import { relative, resolve } from 'node:path';
import { readList, readNotes } from './list.ts';
import { createVariants } from './variants.ts';

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
