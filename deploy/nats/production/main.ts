import { writeFileSync } from 'node:fs';
import { renderUsersFile, usersFile } from './users.ts';

// Regenerates the users of the production NATS servers. Run it after changing the permissions.
writeFileSync(usersFile, renderUsersFile());
