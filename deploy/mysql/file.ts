import { resolve } from 'node:path';
import { grantStatements, revokeStatements } from './grants.ts';

const options = { root: resolve(import.meta.dirname, '../..'), database: 'causeway' };

const render = (when: string, statements: readonly string[]): string =>
  `-- Generated from deploy/mysql/privileges.ts and the migrations by npm run generate. Do not edit.
-- Run this ${when} (deploy/README.md).
${statements.join(';\n')};
`;

/** For administrators who do not let a job grant privileges. */
export const grantFiles = [
  {
    file: new URL('./grants.sql', import.meta.url),
    render: () => render('after the migrations of a release', grantStatements(options)),
  },
  {
    file: new URL('./revokes.sql', import.meta.url),
    render: () => render('when no process of the release before is running', revokeStatements(options)),
  },
] as const;
