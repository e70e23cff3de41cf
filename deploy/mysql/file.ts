import { resolve } from 'node:path';
import { grantStatements } from './grants.ts';

/** The rendered statements, for administrators who do not let a job grant privileges. */
export const grantsFile = new URL('./grants.sql', import.meta.url);

export const renderGrantsFile = (): string => {
  const root = resolve(import.meta.dirname, '../..');
  return `${head}${grantStatements({ root, database: 'causeway' }).join(';\n')};\n`;
};

const head = `-- Generated from deploy/mysql/privileges.ts and the migrations by deploy/mysql/main.ts. Do not edit.
-- Run this after the migrations. The users must exist already (deploy/README.md).
`;
