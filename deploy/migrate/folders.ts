import { join } from 'node:path';
import type { MigrationFolder } from '@causeway/runtime';

/** Who owns tables, in the order in which they are made. */
const owners = ['access', 'crm', 'webhooks'] as const;

/** The migrations of the whole system. @param root the repository, or its copy in the image. */
export const migrationFolders = (root: string): readonly MigrationFolder[] =>
  owners.map((name) => ({ name, folder: join(root, 'services', name, 'migrations') }));
