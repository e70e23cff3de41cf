import { contract, eventCatalog } from '@causeway/proto';
import { json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';

export const listEventTypes = ({ now }: Access) =>
  portalHandler(contract.listEventTypes, async () => json(200, { eventTypes: eventCatalog(now()) }));
