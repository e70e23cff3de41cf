import { writeFileSync } from 'node:fs';
import { renderUsersFile, usersFile } from './users.ts';

// Run it after changing the permissions.
writeFileSync(usersFile, renderUsersFile());
