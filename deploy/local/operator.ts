import { randomUUID } from 'node:crypto';
import {
  type AnswerTo,
  type BodyFor,
  laneSubject,
  type OperatorOperationId,
  replyPrefix,
} from '@causeway/proto';
import { connectBus, createLaneClient, randomHex } from '@causeway/runtime';
/** The operator's calls to `access`, as the command line makes them. */
export interface Operator {
  ask<Id extends OperatorOperationId>(operation: Id, body: BodyFor<Id>): Promise<AnswerTo<Id>>;
  close(): Promise<void>;
}

const budgetMs = 10_000;

export const openOperator = async (natsUrl: string): Promise<Operator> => {
  const bus = await connectBus({ url: natsUrl, name: 'operator' });
  const lane = createLaneClient({
    bus,
    lane: 'operator',
    subject: laneSubject('operator'),
    replySubject: `${replyPrefix('operator')}.${randomHex(8)}`,
  });
  return {
    ask: async (operation, body) => {
      const answer = await lane.request({
        operation,
        tenant: 0,
        caller: 0,
        requestId: randomUUID(),
        traceparent: `00-${randomHex(16)}-${randomHex(8)}-01`,
        budgetMs,
        params: [],
        query: '',
        body: Buffer.from(JSON.stringify(body)),
      });
      const text = answer.body.toString();
      if (answer.status >= 400) throw new Error(`${operation} was answered ${answer.status}: ${text}`);
      return JSON.parse(text);
    },
    close: async () => {
      lane.close();
      await bus.close();
    },
  };
};
