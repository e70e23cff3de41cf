import type { Handler } from '@causeway/runtime';
import type { CrmContext } from '../context.ts';
import { findPeople } from './find-people.ts';

export const findClients = ({ db }: CrmContext): Handler => findPeople(db, 'findClients');
