import { writeFileSync } from 'node:fs';
import { renderUsersFile, usersFile } from './users.ts';

// Writes the users of production's NATS servers anew: after a change of the permissions.
writeFileSync(usersFile, renderUsersFile());
