import { writeFileSync } from 'node:fs';
import { licencesFile, renderLicences } from './licences.ts';

// Run it after changing dependencies.
writeFileSync(licencesFile, renderLicences());
