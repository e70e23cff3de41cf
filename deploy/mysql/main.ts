import { writeFileSync } from 'node:fs';
import { grantFiles } from './file.ts';

for (const { file, render } of grantFiles) writeFileSync(file, render());
