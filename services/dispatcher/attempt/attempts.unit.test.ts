import { createLog, noMetrics } from '@causeway/runtime';
import { expect, test } from 'vitest';
import type { Delivery, LeasedDelivery } from '../delivery.ts';
import type { Poster } from '../http/post.ts';
import { createAttempts } from './attempts.ts';

const { log } = createLog({ name: 'dispatcher', instance: 'test', level: 'silent' });

const deliveryOf = (more: Partial<Delivery>): Delivery => ({
  company_id: 1,
  event_id: 2,
  subscription_id: 3,
  replay_id: 0,
  created_utc: new Date(0),
  event_type: 'client.created',
  leaseMs: 30_000,
  attempt: 1,
  sequence: 4,
  origin: 'system',
  source: 'queue',
  probe: false,
  target: {
    url: 'http://receiver/',
    secret: Buffer.alloc(0),
    previous_secret: null,
    previous_secret_until: null,
    consecutive_failures: 0,
    conditions: null,
    pace_limit: null,
    pace_seconds: null,
    paused_utc: null,
    headers: null,
  },
  body: Buffer.alloc(0),
  ...more,
});

/** The process has the ID 1 and is sure of its leases unless a beat is due. */
const open = ({ isSure = true, onBeat = () => {}, signMs = 0 } = {}) => {
  let sure = isSure;
  const posts: string[] = [];
  const returned: LeasedDelivery[] = [];
  let nowMs = 1_000;
  const poster = {
    post: async ({ url }) => {
      posts.push(url);
      return { statusCode: 200, errorClass: null, elapsedMs: 1, retryAfter: null };
    },
  } as Pick<Poster, 'post'> as Poster;
  const { make } = createAttempts({
    signer: {
      sign: async () => {
        nowMs += signMs;
        return { timestamp: 1, signatures: ['', ''], ownHeaders: [] };
      },
      close: async () => {},
    },
    poster,
    scheduleMs: [],
    lastStartMs: 13_000,
    holder: {
      id: () => 1,
      isSure: () => sure,
      nextBeat: async () => {
        sure = true;
        onBeat();
      },
    },
    recorder: {
      attempted: () => {},
      giveBack: (deliveries) => void returned.push(...deliveries),
      isReady: () => true,
    },
    now: () => new Date(nowMs),
    nowMs: () => nowMs,
    random: () => 0,
    log,
    metrics: noMetrics,
  });
  return {
    make,
    posts,
    returned,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
};

test('an event that has no row yet is protected by its own lease, not by the process that has it', async () => {
  const event = (leaseMs: number) => {
    const open = new Map();
    const own = { company_id: 1, event_id: 2, created_utc: new Date(0), leaseMs, open, missed: [] };
    const delivery = deliveryOf({ event: own, source: 'first' });
    open.set(delivery.subscription_id, delivery);
    return delivery;
  };
  const lasting = open();
  await lasting.make(event(1_500));
  expect(lasting.posts).toHaveLength(1);
  const ended = open({ isSure: false, onBeat: () => ended.wait(1_000) });
  expect(await ended.make(event(1_500))).toBeUndefined();
  expect(ended.posts).toEqual([]);
  const over = open();
  const late = event(900);
  expect(await over.make(late)).toBeUndefined();
  expect([over.posts, over.returned]).toEqual([[], [late]]);
  const endedMeanwhile = open({ signMs: 1_000 });
  const delivery = event(1_500);
  expect(await endedMeanwhile.make(delivery)).toBeUndefined();
  expect([endedMeanwhile.posts, endedMeanwhile.returned]).toEqual([[], [delivery]]);
});

test('a delivery whose row was written after its event was given back is not sent', async () => {
  const { make, posts } = open();
  await make(deliveryOf({ holder: undefined }));
  expect(posts).toEqual([]);
});
