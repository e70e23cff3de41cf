import { writeFileSync } from 'node:fs';
import { licencesFile, renderLicences } from './licences.ts';

// Regenerates the list of licences. Run it after changing dependencies.
writeFileSync(licencesFile, renderLicences());
