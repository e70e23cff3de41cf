import { readList, readNotes } from './list.ts';
import { createVariants } from './variants.ts';

/**
 * Compares the statements that a run of the tests has noted in a folder with the list.
 * @returns what is wrong, as lines for the terminal; none if every noted statement is listed.
 */
export const compare = (folder: string): readonly string[] => {
  const noted = readNotes(folder);
  if (noted.size === 0) return ['No statement was noted: the integration and API tests did not run.'];
  const isListed = createVariants(readList().map(({ statement }) => statement));
  const missing = [...noted.keys()].filter((statement) => !isListed(statement));
  if (missing.length === 0) return [];
  return [
    ...missing.map((statement) => `not listed: ${statement}`),
    `${missing.length} SQL statements are new or changed. List them with their verdicts: npm run statements -- ${folder}`,
  ];
};
