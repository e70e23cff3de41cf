import { contract } from '@causeway/proto';
import type { Handler } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { createPerson } from './create-person.ts';
import { handleAction } from './handle.ts';

export const createClient = (context: ActionsContext): Handler =>
  handleAction(context, contract.createClient, null, createPerson(context.store, 'client'));
