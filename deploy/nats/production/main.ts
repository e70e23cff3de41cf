import { writeFileSync } from 'node:fs';
import { renderUsersFile, usersFile } from './users.ts';

writeFileSync(usersFile, renderUsersFile());
