import { contract } from '@causeway/proto';
import { type Handler, json, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readReplay, replayAnswer } from './record.ts';

export const getReplay = ({ db }: WebhooksContext): Handler =>
  portalHandler(contract.getReplay, async (call) =>
    json(200, replayAnswer(await readReplay(db, call.companyId, call.id('replay')))),
  );
