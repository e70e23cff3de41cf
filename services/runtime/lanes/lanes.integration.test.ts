import { setTimeout as sleep } from 'node:timers/promises';
import { beatSubject } from '@causeway/proto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Bus, connectBus } from '../bus.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { type TestNats, testNats } from '../testing/index.ts';
import { createLaneClient, type LaneClientOptions } from './client.ts';
import {
  type Answer,
  decodeCalls,
  encodeAnswer,
  joinFrame,
  type LaneAnswer,
  type LaneCall,
  maxEntryBytes,
} from './frame.ts';
import { type Call, each, type LaneHandler, type LaneServerOptions, serveLane } from './server.ts';

let nats: TestNats;
beforeAll(async () => {
  nats = await testNats();
});
afterAll(() => nats.stop());

let lanes = 0;

/** A separate lane for each test: any number of clients and servers, each with its own connection. */
const openLane = (on: TestNats = nats) => {
  const lane = `test${++lanes}`;
  const connect = async (name: string): Promise<Bus> => {
    const bus = await connectBus({ url: on.url, name });
    onTestFinished(() => bus.close());
    return bus;
  };
  return {
    client: async (options: Partial<LaneClientOptions> = {}) => {
      const bus = await connect('caller');
      const client = createLaneClient({
        bus,
        lane,
        subject: `lane.${lane}`,
        replySubject: `reply.caller.${lane}x${++lanes}`,
        ...options,
      });
      onTestFinished(() => client.close());
      return { ...client, bus };
    },
    server: async (handlers: Record<string, LaneHandler>, options: Partial<LaneServerOptions> = {}) => {
      const bus = await connect('callee');
      const server = await serveLane({
        bus,
        lane,
        subject: `lane.${lane}`,
        handlers,
        onUnknown: () => ({ status: 501, body: null }),
        onError: (_, error) => ({ status: 500, body: String(error) }),
        ...options,
      });
      return { ...server, bus };
    },
    /** A replica that only takes calls, and is silent between its beats. */
    silent: async (name: string) => {
      const bus = await connect('callee');
      const taken: number[] = [];
      bus.nc.subscribe(`lane.${lane}.${name}`, {
        callback: (_, { data }) => void taken.push(...decodeCalls(data).map(({ id }) => id)),
      });
      await bus.nc.flush();
      const beat = (state = 'well', connections = 1) =>
        bus.nc.publish(beatSubject(lane, name), JSON.stringify([state, connections]));
      return {
        ...{ taken, beat, bus, subject: `lane.${lane}` },
        /** Beats until it has taken this many calls, however long that takes. */
        beatUntilTaken: (calls: number) => {
          const beating = setInterval(() => taken.length < calls && beat(), 50);
          onTestFinished(() => clearInterval(beating));
        },
      };
    },
  };
};

/** A lane with a client. */
const open = async (on: TestNats = nats, options: Partial<LaneClientOptions> = {}) => {
  const lane = openLane(on);
  const metrics = createMetrics();
  const client = await lane.client({ metrics, ...options });
  return {
    ...lane,
    client,
    metrics,
    request: (operation: string, more?: Partial<LaneCall>) => client.request(call(operation, more)),
    /** Resolves when the client has heard beats of this many replicas that can work. */
    heard: (replicas: number) => expect.poll(() => sampleOf(metrics, 'lane_client_replicas')).toBe(replicas),
  };
};

const sampleOf = async (metrics: Metrics, name: string, label = ''): Promise<number> => {
  const lines = (await metrics.registry.metrics()).split('\n');
  const line = lines.find((one) => one.startsWith(`${name}{`) && one.includes(label));
  return Number(line?.slice(line.lastIndexOf(' ') + 1) ?? 0);
};

const call = (operation: string, more: Partial<LaneCall> = {}): LaneCall => ({
  operation,
  tenant: 7,
  caller: 3,
  requestId: 'r-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  budgetMs: 20_000,
  params: [],
  query: '',
  body: Buffer.alloc(0),
  ...more,
});

const callId = '0199f3c2a5b07d1e4c8a6b2f90d3e517';

const echo: LaneHandler = each(async ({ deadlineMs: _, body, ...rest }) => ({
  status: 200,
  body: JSON.stringify({ ...rest, body: Buffer.from(body).toString('hex') }),
}));

const answers = (status: number, body: string | null = null): LaneHandler =>
  each(async () => ({ status, body }));
const statusesOf = (all: readonly LaneAnswer[]) => all.map(({ status }) => status);
const codeOf = (code: string) => ({ status: 'rejected', reason: expect.objectContaining({ code }) });

describe('a call', () => {
  test('arrives with everything it was sent with, and its answer comes back', async () => {
    const { server, request } = await open();
    await server({
      echo,
      gone: each(async () => ({ status: 204, body: null, headers: { Location: '/x' } })),
    });
    const sent = {
      params: ['12', 'ü%20'],
      query: 'q=%C3%A4&limit=5',
      body: Buffer.from([0, 255, 10, 13]),
    };
    const { status, body } = await request('echo', sent);
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual({ ...call('echo', sent), body: '00ff0a0d' });
    const empty = { status: 204, body: Buffer.alloc(0), headers: { Location: '/x' } };
    expect(await request('gone')).toEqual(empty);
  });

  test('without a handler, or whose handler throws, at once or later, is an error and harms no other', async () => {
    const { server, request } = await open();
    await server({
      echo,
      atOnce: () => {
        throw new Error('at once');
      },
      later: each(async () => {
        await sleep(1);
        throw new Error('later');
      }),
    });
    const all = await Promise.all(['nonesuch', 'atOnce', 'later', 'echo'].map((name) => request(name)));
    expect(statusesOf(all)).toEqual([501, 500, 500, 200]);
    expect(all[2]!.body.toString()).toBe('Error: later');
  });
});

describe('a tick', () => {
  test('sends its calls as one frame, and a handler takes them together', async () => {
    const { server, request } = await open();
    const batches: number[] = [];
    const { bus } = await server({
      many: (calls) => {
        batches.push(calls.length);
        return calls.map(async ({ query }) => ({ status: 200, body: query }));
      },
    });
    let frames = 0;
    bus.nc.subscribe('lane.>', { callback: () => void frames++ });
    await bus.nc.flush();
    const queries = Array.from({ length: 200 }, (_, at) => `n=${at}`);
    const all = await Promise.all(queries.map((query) => request('many', { query })));
    expect(all.map(({ body }) => body.toString())).toEqual(queries);
    expect([batches, frames]).toEqual([[200], 1]);
  });

  test('with one slow call among fast ones delays none of the fast', async () => {
    const { server, request } = await open();
    const release = Promise.withResolvers<void>();
    await server({ slow: each(() => release.promise.then(() => ({ status: 200, body: null }))), echo });
    const slow = request('slow');
    expect(statusesOf(await Promise.all([request('echo'), request('echo')]))).toEqual([200, 200]);
    release.resolve();
    expect((await slow).status).toBe(200);
  });
});

describe('a call that cannot be served', () => {
  describe.each([
    ['whose server takes 4 MiB', 4 * 2 ** 20],
    ['whose server takes 1 MiB, as by default', 2 ** 20],
    ['whose server takes 64 KiB', 2 ** 16],
  ])('over a NATS %s', (_, max_payload) => {
    let own: TestNats;
    beforeAll(async () => {
      own = await testNats({ max_payload });
    });
    afterAll(() => own.stop());
    const most = Math.min(maxEntryBytes, max_payload);

    test('is refused whatever makes it too large, and harms no other of its turn', async () => {
      const { server, request, client } = await open(own);
      await server({ echo });
      const wide = '\u0000'.repeat(most / 6);
      const user = { id: 1, name: wide, role: 'owner', sessionId: 1, email: '' } as const;
      const tooLarge: readonly Partial<LaneCall>[] = [
        { body: Buffer.alloc(most) },
        { params: ['ÿ'.repeat(most / 2)] },
        { query: wide },
        { callId, condition: { ifMatch: wide } as never },
        { actor: { user, address: '', userAgent: '' } as never },
        { key: { proof: '', address: wide } },
      ];
      const results = await Promise.allSettled([...tooLarge, {}].map((more) => request('echo', more)));
      expect(results).toEqual([
        ...tooLarge.map(() => codeOf('too_large')),
        expect.objectContaining({ status: 'fulfilled' }),
      ]);
      expect(client.inFlight()).toBe(0);
    });

    test('gets an error if its answer is too large, whether in its body or its headers', async () => {
      const { server, request } = await open(own);
      const headers = { Location: 'ÿ'.repeat(most / 2) };
      await server({
        body: each(async () => ({ status: 200, body: Buffer.alloc(most) })),
        headers: each(async () => ({ status: 200, body: null, headers })),
        echo,
      });
      const all = await Promise.all(['body', 'headers', 'echo'].map((name) => request(name)));
      expect(statusesOf(all)).toEqual([500, 500, 200]);
      expect(all[0]!.body.toString()).toContain('too_large');
    });

    test('is sent in as many frames as a turn needs, with long heads as with long bodies', async () => {
      const { server, request } = await open(own);
      await server({
        size: each(async ({ params: [long = ''], body }) => ({
          status: 200,
          body: Buffer.alloc(body.byteLength),
          headers: { Location: long },
        })),
      });
      const sizes = Array.from({ length: 24 }, (__, at) => 2 * Math.floor((at * max_payload) / 120));
      const all = await Promise.all(
        sizes.map((bytes, at) =>
          request('size', at % 2 ? { body: Buffer.alloc(bytes) } : { params: ['ÿ'.repeat(bytes / 2)] }),
        ),
      );
      const sizeOf = ({ body, headers }: LaneAnswer) =>
        body.byteLength + Buffer.byteLength(headers?.Location ?? '');
      expect(all.map(sizeOf)).toEqual(sizes);
    });
  });

  test('fails when its frame cannot be published, and the turns after it go on', async () => {
    const { server, request, client } = await open();
    await server({ echo });
    const { publish } = client.bus.nc;
    client.bus.nc.publish = () => {
      throw new Error('closed');
    };
    await expect(request('echo')).rejects.toMatchObject({ code: 'disconnected' });
    client.bus.nc.publish = publish;
    expect((await request('echo')).status).toBe(200);
    expect(client.inFlight()).toBe(0);
  });

  test('fails at once if there is no server, and otherwise when its budget is over', async () => {
    const { server, request, client } = await open();
    const all = await Promise.allSettled([1, 2, 3].map(() => request('never')));
    expect(all).toEqual(all.map(() => codeOf('absent')));
    await server({ never: each(() => new Promise(() => {})) });
    await expect(request('never', { budgetMs: 100 })).rejects.toMatchObject({ code: 'timeout' });
    expect(client.inFlight()).toBe(0);
  });

  test('is shed by the client beyond its bound, and by a replica beyond its own', async () => {
    const { server, request } = await open(nats, { maxInFlight: 5 });
    const release = Promise.withResolvers<void>();
    const hold = each(async (): Promise<Answer> => {
      await release.promise;
      return { status: 200, body: null };
    });
    await server({ hold }, { maxInFlight: 3 });
    const codes = Array.from({ length: 6 }, () =>
      request('hold').then(
        ({ status }) => status,
        ({ code }) => code,
      ),
    );
    expect(await Promise.all(codes.slice(3))).toEqual(Array(3).fill('overloaded'));
    release.resolve();
    expect(await Promise.all(codes.slice(0, 3))).toEqual([200, 200, 200]);
  });

  test('is not executed if its caller gave up while it waited', async () => {
    const { server, request } = await open();
    const ran: string[] = [];
    await server({
      block: each(async () => {
        const untilMs = performance.now() + 200;
        while (performance.now() < untilMs);
        return { status: 200, body: null };
      }),
      note: each(async ({ query }) => {
        ran.push(query);
        return { status: 200, body: null };
      }),
    });
    // All arrive in one frame: the first blocks the replica's only thread past the second's budget.
    const results = await Promise.allSettled([
      request('block'),
      request('note', { query: 'late', budgetMs: 1 }),
      request('note', { query: 'in time' }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ran).toEqual(['in time']);
  });
});

describe('a replica', () => {
  test('that dies during a frame fails only the calls it had taken; the rest goes to the others', async () => {
    const { server, request } = await open();
    const taken: Call[] = [];
    const dying = await server({
      echo: (calls) => {
        taken.push(...calls);
        return calls.map(() => new Promise<Answer>(() => {}));
      },
    });
    const lost = Promise.allSettled([1, 2, 3].map(() => request('echo', { budgetMs: 500 })));
    await expect.poll(() => taken).toHaveLength(3);
    await server({ echo });
    await dying.bus.nc.close();
    // Until the NATS server has noticed, a frame can still go to the dead replica.
    await expect.poll(() => request('echo', { budgetMs: 500 })).toMatchObject({ status: 200 });
    const served = await Promise.all(Array.from({ length: 50 }, () => request('echo')));
    expect(new Set(statusesOf(served))).toEqual(new Set([200]));
    expect(await lost).toEqual(Array(3).fill(codeOf('timeout')));
  });

  test('that drains answers the calls it has taken, takes no more, and loses none', async () => {
    const { server, request } = await open();
    const slow: LaneHandler = each(async () => {
      await sleep(50);
      return { status: 200, body: 'done' };
    });
    const leaving = await server({ slow });
    await server({ slow });
    const calls: Promise<LaneAnswer>[] = [];
    const pace = setInterval(() => calls.push(request('slow')), 1);
    const more = async () => {
      const before = calls.length;
      await expect.poll(() => calls.length).toBeGreaterThan(before + 20);
    };
    await more();
    await leaving.drain();
    expect(leaving.inFlight()).toBe(0);
    await leaving.bus.close();
    await more();
    clearInterval(pace);
    expect(new Set(statusesOf(await Promise.all(calls)))).toEqual(new Set([200]));
  });

  test('that falls silent gets nothing more, and its repeatable calls go to another', async () => {
    const { server, silent, heard, request, metrics } = await open();
    const frozen = await silent('frozen');
    frozen.beatUntilTaken(2);
    await heard(1);
    const lost = request('echo', { budgetMs: 3_000 });
    const saved = request('echo', { repeatable: true });
    await expect.poll(() => frozen.taken).toHaveLength(2);
    await server({ echo });
    expect((await saved).status).toBe(200);
    expect(await sampleOf(metrics, 'lane_client_resends_total', 'reason="silent"')).toBe(1);
    for (let n = 0; n < 20; n++) expect((await request('echo')).status).toBe(200);
    expect(frozen.taken).toHaveLength(2);
    await expect(lost).rejects.toMatchObject({ code: 'timeout' });
    frozen.beatUntilTaken(3);
    await heard(2);
    request('echo').catch(() => {});
    await expect.poll(() => frozen.taken).toHaveLength(3);
  });

  test('that falls silent loses no write with a name: it is sent again, and says so', async () => {
    const { server, silent, heard, request } = await open();
    const frozen = await silent('frozen');
    frozen.beatUntilTaken(2);
    await heard(1);
    const written = request('write', { callId, repeatable: true });
    const refused = request('refuse', { callId, repeatable: true });
    await expect.poll(() => frozen.taken).toHaveLength(2);
    const got: unknown[] = [];
    await server({
      write: each(async (one) => {
        got.push([one.callId, one.again]);
        return { status: 201, body: null };
      }),
      refuse: answers(503),
    });
    expect((await written).status).toBe(201);
    expect(got).toEqual([[callId, true]]);
    // The 503 would say that nothing was done, but the frozen replica may have done it.
    await expect(refused).rejects.toMatchObject({ code: 'timeout' });
  });

  test.each([
    ['read', {}],
    ['write', { callId }],
  ])('that falls silent takes one other along at most: the %s goes to no third', async (_, more) => {
    const { silent, heard, request } = await open();
    const replicas = await Promise.all(['one', 'two', 'three'].map(silent));
    for (const replica of replicas) replica.beatUntilTaken(1);
    await heard(3);
    const stalling = request('stall', { ...more, repeatable: true, budgetMs: 6_000 });
    await expect(stalling).rejects.toMatchObject({ code: 'timeout' });
    expect(replicas.map(({ taken }) => taken.length).sort()).toEqual([0, 1, 1]);
  });

  test('that falls silent when most of the budget is gone takes no other along', async () => {
    const { silent, heard, request } = await open();
    const [slow, other] = [await silent('slow'), await silent('other')];
    slow.beatUntilTaken(1);
    await heard(1);
    const stalling = request('stall', { repeatable: true, budgetMs: 1_200 });
    await expect.poll(() => slow.taken).toHaveLength(1);
    other.beatUntilTaken(1);
    await expect(stalling).rejects.toMatchObject({ code: 'timeout' });
    expect(other.taken).toEqual([]);
  });

  test('that dies is no suspect: its calls go on as long as another lives, however often that happens', async () => {
    const { server, silent, heard, request } = await open();
    let answer: Promise<LaneAnswer> | undefined;
    for (const name of ['one', 'two', 'three']) {
      const replica = await silent(name);
      replica.beatUntilTaken(1);
      await heard(1);
      answer ??= request('echo', { repeatable: true });
      await expect.poll(() => replica.taken).toHaveLength(1);
      // Nothing else is sent that could show that it is dead.
      await replica.bus.nc.close();
    }
    await server({ echo });
    expect((await answer)?.status).toBe(200);
  });

  test('whose late answer comes after that of another is not heard', async () => {
    const { server, heard, request, client } = await open();
    const release = Promise.withResolvers<void>();
    let slow: readonly Call[] = [];
    const first = await server({
      who: (calls) => {
        slow = calls;
        return calls.map(() => release.promise.then(() => ({ status: 200, body: 'first' })));
      },
    });
    await heard(1);
    const answer = request('who', { repeatable: true });
    await expect.poll(() => slow).toHaveLength(1);
    const second = await server({ who: answers(200, 'second') });
    await heard(2);
    // The first gets a new connection: what it was asked may be lost, and is asked again.
    void first.bus.nc.reconnect();
    release.resolve();
    expect((await answer).status).toBe(200);
    await second.bus.nc.flush();
    expect(client.inFlight()).toBe(0);
    expect((await request('who')).status).toBe(200);
  });

  test('whose connection broke is asked again', async () => {
    const { silent, heard, request, metrics } = await open();
    const replica = await silent('moved');
    replica.beatUntilTaken(2);
    await heard(1);
    void request('echo', { repeatable: true }).catch(() => {});
    void request('echo').catch(() => {});
    await expect.poll(() => replica.taken).toHaveLength(2);
    replica.beat('well', 2);
    await expect.poll(() => replica.taken).toHaveLength(3);
    expect(await sampleOf(metrics, 'lane_client_resends_total', 'reason="renewed"')).toBe(1);
  });

  test('that cannot work gets calls only if no other can', async () => {
    const { server, heard, request } = await open();
    let well = true;
    await server({ who: answers(200, 'sick') }, { well: () => well });
    const healthy = await server({ who: answers(200, 'healthy') });
    const asked = async () => {
      const all = await Promise.all(Array.from({ length: 10 }, () => request('who')));
      return [...new Set(all.map(({ body }) => body.toString()))];
    };
    await heard(2);
    well = false;
    await heard(1);
    expect(await asked()).toEqual(['healthy']);
    await healthy.drain();
    await heard(0);
    expect(await asked()).toEqual(['sick']);
  });

  test('that answers 503 is avoided for a moment, and repeatable calls go to another, once', async () => {
    const { server, heard, request } = await open();
    await server({ work: answers(503, 'away') });
    await server({ work: answers(200) });
    await heard(2);
    for (let n = 0; n < 10; n++) expect((await request('work', { repeatable: true })).status).toBe(200);
    const alone = await open();
    await alone.server({ work: answers(503, 'away') });
    expect((await alone.request('work', { repeatable: true })).status).toBe(503);
  });

  test('that falls silent as the last one is waited for, and only later the queue group is asked', async () => {
    const { silent, heard, request } = await open();
    const replica = await silent('alone');
    replica.beatUntilTaken(1);
    await heard(1);
    void request('echo').catch(() => {});
    await expect.poll(() => replica.taken).toHaveLength(1);
    await heard(0);
    void request('echo').catch(() => {});
    // A call that was not held would have been sent by then.
    await sleep(100);
    expect(replica.taken).toHaveLength(1);
    replica.beatUntilTaken(2);
    await expect.poll(() => replica.taken).toHaveLength(2);
    await heard(0);
    const later = request('echo');
    // As of a release that sends no beats.
    replica.bus.nc.subscribe(replica.subject, {
      queue: 'former',
      callback: (_, { reply, data }) => {
        const [{ id } = { id: 0 }] = decodeCalls(data);
        replica.bus.nc.publish(
          `${reply!.slice(0, reply!.lastIndexOf('.'))}.0`,
          joinFrame([encodeAnswer(id, { status: 200, body: null })]),
        );
      },
    });
    expect((await later).status).toBe(200);
  });

  test('that restarts is waited for', async () => {
    const { server, heard, request, client } = await open();
    const dying = await server({ echo });
    await heard(1);
    // Not `close`: the server could still deliver to a connection whose end it has not seen.
    await dying.bus.nc.drain();
    const all = Promise.all([1, 2, 3].map(() => request('echo')));
    // A call that was not held would have failed by then.
    await sleep(300);
    expect(client.inFlight()).toBe(3);
    await server({ echo });
    expect(statusesOf(await all)).toEqual([200, 200, 200]);
  });

  test('is not blamed by a client that was itself stalled', async () => {
    const { silent, heard, request } = await open();
    const replica = await silent('patient');
    replica.beatUntilTaken(Number.POSITIVE_INFINITY);
    await heard(1);
    void request('echo', { repeatable: true }).catch(() => {});
    await expect.poll(() => replica.taken).toHaveLength(1);
    const untilMs = performance.now() + 1_500;
    while (performance.now() < untilMs);
    // The client has read the beats that arrived during the stall.
    await sleep(300);
    expect(replica.taken).toHaveLength(1);
  });

  test('shares the calls with its siblings', async () => {
    const { server, request, metrics } = await open();
    const served = { one: 0, other: 0 };
    for (const name of ['one', 'other'] as const)
      await server({
        which: each(async () => {
          served[name]++;
          return { status: 200, body: null };
        }),
      });
    for (let n = 0; n < 100; n++) await request('which');
    expect(served.one + served.other).toBe(100);
    expect(Math.min(served.one, served.other)).toBeGreaterThan(10);
    expect(await sampleOf(metrics, 'lane_client_frames_total')).toBe(100);
    expect(await sampleOf(metrics, 'lane_client_calls_total')).toBe(100);
  });
});

describe('a client whose connection is lost', () => {
  test('fails its calls when their budget is over', async () => {
    const own = await testNats();
    const { client, request } = await open(own);
    await own.kill();
    await expect.poll(() => client.bus.connected()).toBe(false);
    await expect(request('echo', { budgetMs: 100 })).rejects.toMatchObject({ code: 'disconnected' });
  });

  test('sends waiting calls after the reconnect, and repeatable ones again whose answer is lost', async () => {
    const own = await testNats();
    const { client, server, heard, request } = await open(own);
    const release = Promise.withResolvers<void>();
    const taken: string[] = [];
    const { bus } = await server({
      slow: each(async ({ query }) => {
        taken.push(query);
        await release.promise;
        return { status: 200, body: null };
      }),
    });
    await heard(1);
    const lost = request('slow', { query: 'once', budgetMs: 10_000 });
    const repeated = request('slow', { query: 'twice', repeatable: true });
    await expect.poll(() => taken).toHaveLength(2);
    await own.kill();
    await expect.poll(() => client.bus.connected() || bus.connected()).toBe(false);
    release.resolve();
    const waiting = request('slow', { query: 'new' });
    lost.catch(() => {});
    await own.restart();
    expect(statusesOf(await Promise.all([repeated, waiting]))).toEqual([200, 200]);
    expect(taken.filter((query) => query === 'once')).toEqual(['once']);
    expect(taken).toContain('new');
  });
});
