import { contract } from '@causeway/proto';
import type { ActionsContext } from '../context.ts';
import { changeStatus } from './change-status.ts';
import { handleAction } from './handle.ts';

export const updateClientStatus = (context: ActionsContext) =>
  handleAction(context, contract.updateClientStatus, 'client', changeStatus(context.store, 'client'));
