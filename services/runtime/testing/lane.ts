import { type LaneName, laneSubject, replyPrefix } from '@causeway/proto';
import type { Bus } from '../bus.ts';
import { createLaneClient } from '../lanes/client.ts';
import type { LaneAnswer, LaneCall } from '../lanes/frame.ts';
import { randomHex } from '../trace.ts';
import { cleanUp } from './cleanup.ts';

export type TestLane = (call: Pick<LaneCall, 'operation'> & Partial<LaneCall>) => Promise<LaneAnswer>;

/** Can send anything as any caller, as a compromised gateway could. @param client names its reply subjects */
export const testLane = (bus: Bus, lane: LaneName, client: 'gateway' | 'operator' = 'gateway'): TestLane => {
  const { request, close } = createLaneClient({
    bus,
    lane,
    subject: laneSubject(lane),
    replySubject: `${replyPrefix(client)}.test-${randomHex(4)}.${lane}`,
  });
  cleanUp(close);
  return (call) =>
    request({
      tenant: 0,
      caller: 0,
      requestId: randomHex(8),
      traceparent: '',
      budgetMs: 60_000,
      params: [],
      query: '',
      body: new Uint8Array(),
      ...call,
    });
};
