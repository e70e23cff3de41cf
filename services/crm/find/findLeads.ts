import type { Handler } from '@causeway/runtime';
import type { CrmContext } from '../context.ts';
import { findPeople } from './findPeople.ts';

export const findLeads = ({ db }: CrmContext): Handler => findPeople(db, 'findLeads');
