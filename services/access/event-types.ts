import { contract, eventCatalog } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from './context.ts';

export const listEventTypes = ({ now }: Access) =>
  handler(contract.listEventTypes, async () => json(200, { eventTypes: eventCatalog(now()) }));
