import { writeFileSync } from 'node:fs';
import { generatedFiles } from './files.ts';

for (const { file, render } of generatedFiles) writeFileSync(file, render());
