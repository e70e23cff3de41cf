import { writeFileSync } from 'node:fs';
import { licencesFile, renderLicences } from './licences.ts';

// Writes the list of licences anew: after a change of the dependencies.
writeFileSync(licencesFile, renderLicences());
