import { contract } from '@causeway/proto';
import type { ActionsContext } from '../context.ts';
import { changeStatus } from './change-status.ts';
import { handleAction } from './handle.ts';

export const updateLeadStatus = (context: ActionsContext) =>
  handleAction(context, contract.updateLeadStatus, 'lead', changeStatus(context.store, 'lead'));
