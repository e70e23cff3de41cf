import { setTimeout as sleep } from 'node:timers/promises';
import { beatSubject } from '@causeway/proto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Bus, connectBus } from '../bus.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { type TestNats, testNats } from '../testing/index.ts';
import type { Answer, LaneAnswer, LaneCall } from './call.ts';
import { createLaneClient, type LaneClientOptions } from './client.ts';
import { decodeCalls, encodeAnswer, joinFrame, maxEntryBytes } from './frame.ts';
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
    /** Resolves when the client has heard beats of this many replicas that can work. */
    heard: (metrics: Metrics, replicas: number) =>
      expect.poll(() => sampleOf(metrics, 'lane_client_replicas')).toBe(replicas),
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

const echo: LaneHandler = each(async ({ deadlineMs: _, body, ...rest }) => ({
  status: 200,
  body: JSON.stringify({ ...rest, body: Buffer.from(body).toString('hex') }),
}));

describe('a call', () => {
  test('arrives with everything it was sent with, and its answer comes back', async () => {
    const lane = openLane();
    await lane.server({ echo });
    const client = await lane.client();
    const sent = call('echo', {
      params: ['12', 'ü%20'],
      query: 'q=%C3%A4&limit=5',
      body: Buffer.from([0, 255, 10, 13]),
    });
    const { status, body } = await client.request(sent);
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual({ ...sent, body: '00ff0a0d' });
  });

  test('gets the headers and the empty body of its answer', async () => {
    const lane = openLane();
    await lane.server({
      gone: each(async () => ({ status: 204, body: null, headers: { Location: '/x' } })),
    });
    const client = await lane.client();
    const answer = await client.request(call('gone'));
    expect(answer).toEqual({ status: 204, body: Buffer.alloc(0), headers: { Location: '/x' } });
  });

  test('of an operation without a handler is answered by the fallback', async () => {
    const lane = openLane();
    await lane.server({ echo });
    const client = await lane.client();
    expect((await client.request(call('nonesuch'))).status).toBe(501);
  });

  test('whose handler throws, at once or later, is answered as an error and harms no other', async () => {
    const lane = openLane();
    await lane.server({
      echo,
      atOnce: () => {
        throw new Error('at once');
      },
      later: each(async () => {
        await sleep(1);
        throw new Error('later');
      }),
    });
    const client = await lane.client();
    const answers = await Promise.all(['atOnce', 'later', 'echo'].map((name) => client.request(call(name))));
    expect(answers.map((answer) => answer.status)).toEqual([500, 500, 200]);
    expect(answers[1]!.body.toString()).toBe('Error: later');
  });
});

describe('a tick', () => {
  test('sends its calls as one frame, and a handler takes them together', async () => {
    const lane = openLane();
    const batches: number[] = [];
    const { bus } = await lane.server({
      many: (calls) => {
        batches.push(calls.length);
        return calls.map(async ({ query }) => ({ status: 200, body: query }));
      },
    });
    const client = await lane.client();
    let frames = 0;
    bus.nc.subscribe('lane.>', {
      callback: () => {
        frames++;
      },
    });
    await bus.nc.flush();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => client.request(call('many', { query: `n=${at}` }))),
    );
    expect(answers.map((answer) => answer.body.toString())).toEqual(
      Array.from({ length: 200 }, (_, at) => `n=${at}`),
    );
    expect(batches).toEqual([200]);
    expect(frames).toBe(1);
  });

  test('with one slow call among fast ones delays none of the fast', async () => {
    const lane = openLane();
    await lane.server({
      wait: each(async ({ query }) => {
        await sleep(Number(query));
        return { status: 200, body: query };
      }),
    });
    const client = await lane.client();
    const order: string[] = [];
    await Promise.all(
      ['400', '0', '0', '0', '1'].map(async (ms) => {
        await client.request(call('wait', { query: ms }));
        order.push(ms);
      }),
    );
    expect(order.at(-1)).toBe('400');
    expect(order).toHaveLength(5);
  });

  test('of more bytes than a frame holds is sent in several frames, and nothing is lost', async () => {
    const lane = openLane();
    await lane.server({
      size: each(async ({ body }) => ({ status: 200, body: Buffer.alloc(body.byteLength, 1) })),
    });
    const client = await lane.client();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        client.request(call('size', { body: Buffer.alloc(1024 * 1024 - at) })),
      ),
    );
    expect(answers.map((answer) => answer.body.byteLength)).toEqual(
      Array.from({ length: 12 }, (_, at) => 1024 * 1024 - at),
    );
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

    test('is refused whatever makes it too large, and harms no other of its turn', async () => {
      const lane = openLane(own);
      await lane.server({ echo });
      const client = await lane.client();
      const most = Math.min(maxEntryBytes, max_payload);
      const wide = '\u0000'.repeat(most / 6);
      const user = { id: 1, name: wide, role: 'owner', sessionId: 1, email: '' } as const;
      const tooLarge: readonly Partial<LaneCall>[] = [
        { body: Buffer.alloc(most) },
        { params: ['ÿ'.repeat(most / 2)] },
        { query: wide },
        { callId: '0199f3c2a5b07d1e4c8a6b2f90d3e517', condition: { ifMatch: wide } as never },
        { actor: { user, address: '', userAgent: '' } as never },
        { key: { proof: '', address: wide } },
      ];
      const results = await Promise.allSettled([
        ...tooLarge.map((more) => client.request(call('echo', more))),
        client.request(call('echo')),
      ]);
      const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'too_large' }) };
      expect(results).toEqual([
        ...tooLarge.map(() => refused),
        expect.objectContaining({ status: 'fulfilled' }),
      ]);
      expect(client.inFlight()).toBe(0);
    });

    test('gets an error if its answer is too large, whether in its body or its headers', async () => {
      const lane = openLane(own);
      const most = Math.min(maxEntryBytes, max_payload);
      const headers = { Location: 'ÿ'.repeat(most / 2) };
      await lane.server({
        body: each(async () => ({ status: 200, body: Buffer.alloc(most) })),
        headers: each(async () => ({ status: 200, body: null, headers })),
        echo,
      });
      const client = await lane.client();
      const answers = await Promise.all(
        ['body', 'headers', 'echo'].map((name) => client.request(call(name))),
      );
      expect(answers.map(({ status }) => status)).toEqual([500, 500, 200]);
      expect(answers[0]!.body.toString()).toContain('too_large');
    });

    test('is sent in as many frames as a turn needs, with long heads as with long bodies', async () => {
      const lane = openLane(own);
      await lane.server({
        size: each(async ({ params: [long = ''], body }) => ({
          status: 200,
          body: Buffer.alloc(body.byteLength),
          headers: { Location: long },
        })),
      });
      const client = await lane.client();
      const sizes = Array.from({ length: 24 }, (__, at) => (at * max_payload) / 60);
      const answers = await Promise.all(
        sizes.map((bytes, at) => {
          const sent = at % 2 ? { body: Buffer.alloc(bytes) } : { params: ['ÿ'.repeat(bytes / 2)] };
          return client.request(call('size', sent));
        }),
      );
      expect(
        answers.map(({ body, headers }) => body.byteLength + Buffer.byteLength(headers?.Location ?? '')),
      ).toEqual(sizes.map((bytes, at) => (at % 2 ? Math.floor(bytes) : 2 * Math.floor(bytes / 2))));
    });
  });

  test('fails when its frame cannot be published, and the turns after it go on', async () => {
    const lane = openLane();
    await lane.server({ echo });
    const client = await lane.client();
    const { publish } = client.bus.nc;
    client.bus.nc.publish = () => {
      throw new Error('closed');
    };
    await expect(client.request(call('echo'))).rejects.toMatchObject({ code: 'disconnected' });
    client.bus.nc.publish = publish;
    expect((await client.request(call('echo'))).status).toBe(200);
    expect(client.inFlight()).toBe(0);
  });

  test('fails at once if there is no server', async () => {
    const client = await openLane().client();
    const results = await Promise.allSettled([1, 2, 3].map(() => client.request(call('echo'))));
    expect(results).toEqual(
      results.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'absent' }) })),
    );
    expect(client.inFlight()).toBe(0);
  });

  test('times out with a different error than without a server', async () => {
    const lane = openLane();
    await lane.server({ never: each(() => new Promise(() => {})) });
    const client = await lane.client();
    await expect(client.request(call('never', { budgetMs: 100 }))).rejects.toMatchObject({ code: 'timeout' });
    expect(client.inFlight()).toBe(0);
  });

  test('is shed by the client beyond its bound, and by a replica beyond its own', async () => {
    const lane = openLane();
    const release = Promise.withResolvers<void>();
    await lane.server(
      {
        hold: each(async (): Promise<Answer> => {
          await release.promise;
          return { status: 200, body: null };
        }),
      },
      { maxInFlight: 3 },
    );
    const client = await lane.client({ maxInFlight: 5 });
    const codes = Array.from({ length: 6 }, () =>
      client.request(call('hold')).then(
        ({ status }) => status,
        ({ code }) => code,
      ),
    );
    expect(await codes[5]).toBe('overloaded');
    expect(await Promise.all([codes[3], codes[4]])).toEqual(['overloaded', 'overloaded']);
    release.resolve();
    expect(await Promise.all(codes.slice(0, 3))).toEqual([200, 200, 200]);
  });

  test('is not executed if its caller gave up while it waited', async () => {
    const lane = openLane();
    const ran: string[] = [];
    await lane.server({
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
    const client = await lane.client();
    // Both arrive in one frame: the first blocks the replica's only thread past the second's budget.
    const results = await Promise.allSettled([
      client.request(call('block')),
      client.request(call('note', { query: 'late', budgetMs: 1 })),
      client.request(call('note', { query: 'in time' })),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await sleep(20);
    expect(ran).toEqual(['in time']);
  });
});

describe('a replica', () => {
  test('that dies during a frame fails only the calls it had taken; the rest goes to the others', async () => {
    const lane = openLane();
    const taken: Call[] = [];
    const hang: LaneHandler = (calls) => {
      taken.push(...calls);
      return calls.map(() => new Promise<Answer>(() => {}));
    };
    const dying = await lane.server({ echo: hang });
    const client = await lane.client();
    const lost = [1, 2, 3].map(() => client.request(call('echo', { budgetMs: 500 })));
    while (taken.length < 3) await sleep(5);
    await lane.server({ echo });
    await dying.bus.nc.close();
    // Until the NATS server has noticed, a frame can still go to the dead replica.
    await expect.poll(() => client.request(call('echo', { budgetMs: 200 }))).toMatchObject({ status: 200 });
    await sleep(50);
    const served = await Promise.all(Array.from({ length: 50 }, () => client.request(call('echo'))));
    expect(served.every(({ status }) => status === 200)).toBe(true);
    for (const result of await Promise.allSettled(lost))
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'timeout' } });
  });

  test('that drains answers the calls it has taken, takes no more, and loses none', async () => {
    const lane = openLane();
    const slow: LaneHandler = each(async () => {
      await sleep(50);
      return { status: 200, body: 'done' };
    });
    const leaving = await lane.server({ slow });
    await lane.server({ slow });
    const client = await lane.client();
    const calls: Promise<{ status: number }>[] = [];
    const pace = setInterval(() => calls.push(client.request(call('slow'))), 1);
    // Calls are under way before the replica leaves.
    await sleep(100);
    await leaving.drain();
    expect(leaving.inFlight()).toBe(0);
    await leaving.bus.close();
    // Calls still come after the replica has left.
    await sleep(100);
    clearInterval(pace);
    const answers = await Promise.all(calls);
    expect(answers.length).toBeGreaterThan(2);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });

  test('that falls silent gets nothing more, and its repeatable calls go to another', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const frozen = await lane.silent('frozen');
    frozen.beatUntilTaken(2);
    await lane.heard(metrics, 1);
    const lost = client.request(call('echo', { budgetMs: 3_000 }));
    const saved = client.request(call('echo', { repeatable: true }));
    await expect.poll(() => frozen.taken).toHaveLength(2);
    await lane.server({ echo });
    expect((await saved).status).toBe(200);
    const resent = await sampleOf(metrics, 'lane_client_resends_total', 'reason="silent"');
    expect(resent).toBe(1);
    for (let n = 0; n < 20; n++) expect((await client.request(call('echo'))).status).toBe(200);
    expect(frozen.taken).toHaveLength(2);
    await expect(lost).rejects.toMatchObject({ code: 'timeout' });
    frozen.beatUntilTaken(3);
    await lane.heard(metrics, 2);
    client.request(call('echo')).catch(() => {});
    await expect.poll(() => frozen.taken).toHaveLength(3);
  });

  test('that falls silent loses no write with a name: it is sent again, and says so', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const frozen = await lane.silent('frozen');
    frozen.beatUntilTaken(2);
    await lane.heard(metrics, 1);
    const callId = '0199f3c2a5b07d1e4c8a6b2f90d3e517';
    const named = { callId, repeatable: true };
    const written = client.request(call('write', named));
    const refused = client.request(call('refuse', named));
    await expect.poll(() => frozen.taken).toHaveLength(2);
    const heard: unknown[] = [];
    await lane.server({
      write: each(async (one) => {
        heard.push([one.callId, one.again]);
        return { status: 201, body: null };
      }),
      refuse: each(async () => ({ status: 503, body: null })),
    });
    expect((await written).status).toBe(201);
    expect(heard).toEqual([[callId, true]]);
    // The 503 would say that nothing was done, but the frozen replica may have done it.
    await expect(refused).rejects.toMatchObject({ code: 'timeout' });
  });

  test.each([
    ['read', {}],
    ['write', { callId: '0199f3c2a5b07d1e4c8a6b2f90d3e517' }],
  ])('that falls silent takes one other along at most: the %s goes to no third', async (_, more) => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const replicas = await Promise.all(['one', 'two', 'three'].map(lane.silent));
    for (const replica of replicas) replica.beatUntilTaken(1);
    await lane.heard(metrics, 3);
    const stalling = client.request(call('stall', { ...more, repeatable: true, budgetMs: 6_000 }));
    await expect(stalling).rejects.toMatchObject({ code: 'timeout' });
    expect(replicas.map(({ taken }) => taken.length).sort()).toEqual([0, 1, 1]);
  });

  test('that falls silent when most of the budget is gone takes no other along', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const [slow, other] = [await lane.silent('slow'), await lane.silent('other')];
    slow.beatUntilTaken(1);
    await lane.heard(metrics, 1);
    const stalling = client.request(call('stall', { repeatable: true, budgetMs: 1_200 }));
    await expect.poll(() => slow.taken).toHaveLength(1);
    other.beatUntilTaken(1);
    await expect(stalling).rejects.toMatchObject({ code: 'timeout' });
    expect(other.taken).toEqual([]);
  });

  test('that dies is no suspect: its calls go on as long as another lives, however often that happens', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    let answer: Promise<LaneAnswer> | undefined;
    for (const name of ['one', 'two', 'three']) {
      const replica = await lane.silent(name);
      replica.beatUntilTaken(1);
      await lane.heard(metrics, 1);
      answer ??= client.request(call('echo', { repeatable: true }));
      await expect.poll(() => replica.taken).toHaveLength(1);
      // Nothing else is sent that could show that it is dead.
      await replica.bus.nc.close();
    }
    await lane.server({ echo });
    expect((await answer)?.status).toBe(200);
  });

  test('whose late answer comes after that of another is not heard', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const release = Promise.withResolvers<void>();
    let slow: readonly Call[] = [];
    const first = await lane.server({
      who: (calls) => {
        slow = calls;
        return calls.map(async () => {
          await release.promise;
          return { status: 200, body: 'first' };
        });
      },
    });
    await lane.heard(metrics, 1);
    const answer = client.request(call('who', { repeatable: true }));
    await expect.poll(() => slow).toHaveLength(1);
    const second = await lane.server({ who: each(async () => ({ status: 200, body: 'second' })) });
    await lane.heard(metrics, 2);
    // The first gets a new connection: what it was asked may be lost, and is asked again.
    void first.bus.nc.reconnect();
    release.resolve();
    expect((await answer).status).toBe(200);
    await second.bus.nc.flush();
    expect(client.inFlight()).toBe(0);
    expect((await client.request(call('who'))).status).toBe(200);
  });

  test('whose connection broke is asked again', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const replica = await lane.silent('moved');
    replica.beatUntilTaken(2);
    await lane.heard(metrics, 1);
    void client.request(call('echo', { repeatable: true })).catch(() => {});
    void client.request(call('echo')).catch(() => {});
    await expect.poll(() => replica.taken).toHaveLength(2);
    replica.beat('well', 2);
    await expect.poll(() => replica.taken).toHaveLength(3);
    expect(await sampleOf(metrics, 'lane_client_resends_total', 'reason="renewed"')).toBe(1);
  });

  test('that cannot work gets calls only if no other can', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    let well = true;
    const served = { sick: 0, healthy: 0 };
    const countAs = (name: keyof typeof served): LaneHandler =>
      each(async () => {
        served[name]++;
        return { status: 200, body: null };
      });
    await lane.server({ work: countAs('sick') }, { well: () => well });
    const healthy = await lane.server({ work: countAs('healthy') });
    await lane.heard(metrics, 2);
    well = false;
    await lane.heard(metrics, 1);
    for (let n = 0; n < 10; n++) await client.request(call('work'));
    expect(served).toEqual({ sick: 0, healthy: 10 });
    await healthy.drain();
    await lane.heard(metrics, 0);
    for (let n = 0; n < 10; n++) await client.request(call('work'));
    expect(served).toEqual({ sick: 10, healthy: 10 });
  });

  test('that answers 503 is avoided for a moment, and repeatable calls go to another, once', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const unavailable = each(async (): Promise<Answer> => ({ status: 503, body: 'away' }));
    await lane.server({ work: unavailable });
    await lane.server({ work: each(async () => ({ status: 200, body: null })) });
    await lane.heard(metrics, 2);
    const repeatable = Array.from({ length: 10 }, () => call('work', { repeatable: true }));
    for (const one of repeatable) expect((await client.request(one)).status).toBe(200);
    const alone = openLane();
    await alone.server({ work: unavailable });
    expect((await (await alone.client()).request(repeatable[0]!)).status).toBe(503);
  });

  test('that falls silent as the last one is waited for, and only later the queue group is asked', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const replica = await lane.silent('alone');
    replica.beatUntilTaken(1);
    await lane.heard(metrics, 1);
    void client.request(call('echo')).catch(() => {});
    await expect.poll(() => replica.taken).toHaveLength(1);
    await lane.heard(metrics, 0);
    void client.request(call('echo')).catch(() => {});
    // A call that was not held would have been sent by then.
    await sleep(100);
    expect(replica.taken).toHaveLength(1);
    replica.beatUntilTaken(2);
    await expect.poll(() => replica.taken).toHaveLength(2);
    await lane.heard(metrics, 0);
    const later = client.request(call('echo'));
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
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const dying = await lane.server({ echo });
    await lane.heard(metrics, 1);
    // Not `close`: the server could still deliver to a connection whose end it has not seen.
    await dying.bus.nc.drain();
    const answers = [1, 2, 3].map(() => client.request(call('echo')));
    // A call that was not held would have failed by then.
    await sleep(300);
    expect(client.inFlight()).toBe(3);
    await lane.server({ echo });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test('is not blamed by a client that was itself stalled', async () => {
    const lane = openLane();
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const replica = await lane.silent('patient');
    replica.beatUntilTaken(Number.POSITIVE_INFINITY);
    await lane.heard(metrics, 1);
    void client.request(call('echo', { repeatable: true })).catch(() => {});
    await expect.poll(() => replica.taken).toHaveLength(1);
    const untilMs = performance.now() + 1_500;
    while (performance.now() < untilMs);
    // The client has read the beats that arrived during the stall.
    await sleep(300);
    expect(replica.taken).toHaveLength(1);
  });

  test('shares the calls with its siblings', async () => {
    const lane = openLane();
    const served = [0, 0];
    for (const at of [0, 1])
      await lane.server({
        which: each(async () => {
          served[at]!++;
          return { status: 200, body: null };
        }),
      });
    const client = await lane.client();
    for (let n = 0; n < 100; n++) await client.request(call('which'));
    expect(served[0]! + served[1]!).toBe(100);
    expect(Math.min(...served)).toBeGreaterThan(10);
  });
});

test('frames, calls, sheds and failures are counted', async () => {
  const lane = openLane();
  const metrics = createMetrics();
  await lane.server({ echo });
  const client = await lane.client({ metrics });
  await Promise.all([client.request(call('echo')), client.request(call('echo'))]);
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/lane_client_frames_total\{.*\} 1/);
  expect(text).toMatch(/lane_client_calls_total\{.*\} 2/);
});

describe('a client whose connection is lost', () => {
  test('fails its calls when their budget is over', async () => {
    const own = await testNats();
    const client = await openLane(own).client();
    await own.kill();
    while (client.bus.connected()) await sleep(5);
    await expect(client.request(call('echo', { budgetMs: 100 }))).rejects.toMatchObject({
      code: 'disconnected',
    });
  });

  test('sends waiting calls after the reconnect, and repeatable ones again whose answer is lost', async () => {
    const own = await testNats();
    const lane = openLane(own);
    const metrics = createMetrics();
    const client = await lane.client({ metrics });
    const release = Promise.withResolvers<void>();
    const taken: string[] = [];
    const { bus } = await lane.server({
      slow: each(async ({ query }) => {
        taken.push(query);
        await release.promise;
        return { status: 200, body: null };
      }),
    });
    await lane.heard(metrics, 1);
    const lost = client.request(call('slow', { query: 'once', budgetMs: 10_000 }));
    const repeated = client.request(call('slow', { query: 'twice', repeatable: true }));
    await expect.poll(() => taken).toHaveLength(2);
    await own.kill();
    while (client.bus.connected() || bus.connected()) await sleep(5);
    release.resolve();
    const waiting = client.request(call('slow', { query: 'new' }));
    lost.catch(() => {});
    await own.restart();
    expect((await Promise.all([repeated, waiting])).map(({ status }) => status)).toEqual([200, 200]);
    expect(taken.filter((query) => query === 'once')).toEqual(['once']);
    expect(taken).toContain('new');
  });
});
