import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readReplay, replayAnswer } from './record.ts';

export const getReplay = ({ db }: WebhooksContext) =>
  handler(contract.getReplay, async (call) =>
    json(200, replayAnswer(await readReplay(db, call.companyId, call.id('replay')))),
  );
