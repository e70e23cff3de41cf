import { writeFileSync } from 'node:fs';
import { licencesFile, renderLicences } from './licences.ts';

writeFileSync(licencesFile, renderLicences());
