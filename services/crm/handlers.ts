import type { HandlerTable } from '@causeway/runtime';
import * as affiliates from './actions/affiliates.ts';
import * as batches from './actions/batches.ts';
import * as changeStatus from './actions/change-status.ts';
import * as erase from './actions/erase.ts';
import * as notes from './actions/notes.ts';
import * as people from './actions/people.ts';
import * as changes from './changes.ts';
import type { ActionsContext } from './context.ts';
import { exportRecords } from './export.ts';
import * as find from './find.ts';
import * as lookups from './lookups.ts';
import * as portalPeople from './portal-people.ts';
import * as readRecords from './read-records.ts';
import * as searchClients from './search/search-clients.ts';

/** The handlers are exported under their operations' names, so a missing one is a type error. */
export const handlers: HandlerTable<'crm', ActionsContext> = {
  ...affiliates,
  ...batches,
  ...changeStatus,
  ...erase,
  ...notes,
  ...people,
  ...changes,
  exportRecords,
  ...find,
  ...lookups,
  ...portalPeople,
  ...readRecords,
  ...searchClients,
};
