import { join } from 'node:path';
import type { MigrationFolder } from '@causeway/runtime';

/** The services that own tables, in the order of creation. */
const owners = ['access', 'crm', 'webhooks'] as const;

/** The migrations of the whole system. @param root the repository, or its copy in the image. */
export const migrationFolders = (root: string): readonly MigrationFolder[] =>
  owners.map((name) => ({ name, folder: join(root, 'services', name, 'migrations') }));
