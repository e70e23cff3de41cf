import { contract } from '@causeway/proto';
import type { ActionsContext } from '../context.ts';
import { handleAction } from './handle.ts';
import { updatePerson } from './update-person.ts';

export const updateClient = (context: ActionsContext) =>
  handleAction(context, contract.updateClient, 'client', updatePerson(context.store, 'client'));
