import { writeFileSync } from 'node:fs';
import { grantsFile, renderGrantsFile } from './file.ts';

// Regenerates the grants. Run it after a migration that creates a table, or a change of the privileges.
writeFileSync(grantsFile, renderGrantsFile());
