import { writeFileSync } from 'node:fs';
import { grantsFile, renderGrantsFile } from './file.ts';

// Writes the grants anew: after a migration that makes a table, or a change of the privileges.
writeFileSync(grantsFile, renderGrantsFile());
