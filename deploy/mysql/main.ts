import { writeFileSync } from 'node:fs';
import { grantFiles } from './file.ts';

// Run it after a migration that creates a table, or a change of the privileges.
for (const { file, render } of grantFiles) writeFileSync(file, render());
