import { contract } from '@causeway/proto';
import type { ActionsContext } from '../context.ts';
import { createPerson } from './create-person.ts';
import { handleAction } from './handle.ts';

export const createLead = (context: ActionsContext) =>
  handleAction(context, contract.createLead, null, createPerson(context.store, 'lead'));
