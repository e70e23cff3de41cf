import { contract } from '@causeway/proto';
import type { CrmContext } from '../context.ts';
import { findPeople } from './find-people.ts';

export const findClients = ({ db }: CrmContext) => findPeople(db, contract.findClients);
