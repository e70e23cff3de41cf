import { contract } from '@causeway/proto';
import type { ActionsContext } from '../context.ts';
import { createPerson } from './create-person.ts';
import { handleAction } from './handle.ts';

export const createClient = (context: ActionsContext) =>
  handleAction(context, contract.createClient, null, createPerson(context.store, 'client'));
