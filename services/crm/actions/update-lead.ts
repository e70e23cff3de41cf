import { contract } from '@causeway/proto';
import type { ActionsContext } from '../context.ts';
import { handleAction } from './handle.ts';
import { updatePerson } from './update-person.ts';

export const updateLead = (context: ActionsContext) =>
  handleAction(context, contract.updateLead, 'lead', updatePerson(context.store, 'lead'));
