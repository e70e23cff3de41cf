import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Bus, connectBus } from '../bus.ts';
import { createMetrics } from '../metrics.ts';
import { type TestNats, testNats } from '../testing/index.ts';
import type { Answer, LaneCall } from './call.ts';
import { createLaneClient, type LaneClientOptions } from './client.ts';
import { maxBodyBytes } from './frame.ts';
import { type Call, each, type LaneHandler, type LaneServerOptions, serveLane, together } from './server.ts';

let nats: TestNats;
beforeAll(async () => {
  nats = await testNats();
});
afterAll(() => nats.stop());

let lanes = 0;

/** A separate lane for each test: any number of clients and servers, each with its own connection. */
const openLane = () => {
  const lane = `test${++lanes}`;
  const connect = async (name: string): Promise<Bus> => {
    const bus = await connectBus({ url: nats.url, name });
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
        instance: `${lane}-1`,
        handlers,
        onUnknown: () => ({ status: 501, body: null }),
        onError: (_, error) => ({ status: 500, body: String(error) }),
        ...options,
      });
      return { ...server, bus };
    },
  };
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
      later: together(async () => {
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
  test('sends its calls as one frame, and a batch handler takes them together', async () => {
    const lane = openLane();
    const batches: number[] = [];
    const { bus } = await lane.server({
      many: together(async (calls) => {
        batches.push(calls.length);
        return calls.map(({ query }) => ({ status: 200, body: query }));
      }),
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
  test('is refused when it is larger than a lane carries, and the lane keeps working', async () => {
    const lane = openLane();
    await lane.server({ echo });
    const client = await lane.client();
    const tooLarge = client.request(call('echo', { body: Buffer.alloc(maxBodyBytes + 1) }));
    await expect(tooLarge).rejects.toMatchObject({ code: 'too_large' });
    expect((await client.request(call('echo'))).status).toBe(200);
  });

  test('gets an error if its answer is larger than a lane carries', async () => {
    const lane = openLane();
    await lane.server({ huge: each(async () => ({ status: 200, body: Buffer.alloc(maxBodyBytes + 1) })) });
    const client = await lane.client();
    expect((await client.request(call('huge'))).status).toBe(500);
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
    await vi.waitFor(() => client.request(call('echo', { budgetMs: 200 })), 60_000);
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
    await sleep(100);
    await leaving.drain();
    expect(leaving.inFlight()).toBe(0);
    await leaving.bus.close();
    await sleep(100);
    clearInterval(pace);
    const answers = await Promise.all(calls);
    expect(answers.length).toBeGreaterThan(2);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
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

describe('as a NATS micro service (ADR-32), a lane', () => {
  interface Identity {
    readonly id: string;
    readonly metadata: { readonly instance: string };
  }
  const ask = async <Body>(bus: Bus, subject: string, maxMessages = 1): Promise<Body[]> => {
    const answers = await bus.nc.requestMany(subject, '', {
      strategy: 'count',
      maxMessages,
      maxWait: 10_000,
    });
    const bodies: Body[] = [];
    for await (const answer of answers) bodies.push(answer.json<Body>());
    return bodies;
  };

  test('answers PING and INFO for all, by name and by id', async () => {
    const lane = openLane();
    const { bus } = await lane.server({ echo }, { instance: 'one' });
    await lane.server({ echo }, { instance: 'two' });
    const name = `test${lanes}`;
    const identity = { name, id: expect.stringMatching(/^\w+$/), version: '1.0.0' };
    const pings = await ask<Identity>(bus, `$SRV.PING.${name}`, 2);
    expect(pings.map(({ metadata }) => metadata.instance).sort()).toEqual(['one', 'two']);
    const { id, metadata } = pings[0]!;
    expect(pings[0]).toEqual({ type: 'io.nats.micro.v1.ping_response', ...identity, metadata });
    const info = {
      type: 'io.nats.micro.v1.info_response',
      ...identity,
      metadata,
      description: `lane ${name}`,
      endpoints: [{ name: 'lane', subject: `lane.${name}`, queue_group: name }],
    };
    expect(await ask(bus, `$SRV.INFO.${name}.${id}`)).toEqual([info]);
    const everyone = (await ask<Identity>(bus, '$SRV.PING', 2)).map((one) => one.id);
    expect(everyone.sort()).toEqual(pings.map((one) => one.id).sort());
  });

  test('answers STATS with its calls, errors and times', async () => {
    const lane = openLane();
    const { bus } = await lane.server({
      echo,
      wait: each(async () => {
        await sleep(20);
        return { status: 200, body: null };
      }),
      fail: each(() => Promise.reject(new Error('broken'))),
    });
    const name = `test${lanes}`;
    const startedAt = Date.now();
    const client = await lane.client();
    const [before] = await ask<{ endpoints: object[] }>(bus, `$SRV.STATS.${name}`);
    expect(before?.endpoints[0]).toMatchObject({
      num_requests: 0,
      average_processing_time: 0,
      last_error: '',
    });
    await client.request(call('wait'));
    await client.request(call('fail'));
    const [stats] = await ask<{ started: string; endpoints: Record<string, number>[] }>(
      bus,
      `$SRV.STATS.${name}`,
    );
    expect(stats).toEqual({
      type: 'io.nats.micro.v1.stats_response',
      name,
      id: expect.any(String),
      version: '1.0.0',
      metadata: { instance: `${name}-1` },
      started: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
      endpoints: [
        {
          name: 'lane',
          subject: `lane.${name}`,
          queue_group: name,
          num_requests: 2,
          num_errors: 1,
          last_error: 'fail answered 500',
          processing_time: expect.any(Number),
          average_processing_time: expect.any(Number),
        },
      ],
    });
    expect(Date.parse(stats!.started)).toBeLessThanOrEqual(startedAt);
    const { processing_time: total = 0, average_processing_time: average = 0 } = stats!.endpoints[0]!;
    // In nanoseconds; a timer may fire up to a millisecond early.
    expect(total).toBeGreaterThan(19e6);
    // Both are rounded.
    expect(Math.abs(average - total / 2)).toBeLessThanOrEqual(1);
  });

  test('answers only requests of clients, and none after its drain', async () => {
    const lane = openLane();
    const { bus, drain } = await lane.server({ echo });
    const name = `test${lanes}`;
    const seen: string[] = [];
    const listener = bus.nc.subscribe('elsewhere', { callback: (_, { subject }) => void seen.push(subject) });
    bus.nc.publish(`$SRV.PING.${name}`, '', { reply: 'elsewhere' });
    expect(await ask(bus, `$SRV.PING.${name}`)).toHaveLength(1);
    await bus.nc.flush();
    expect(seen).toEqual([]);
    listener.unsubscribe();
    await drain();
    await expect(bus.nc.request(`$SRV.PING.${name}`)).rejects.toThrow('no responders');
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

test('a client on a lost connection fails at once instead of waiting', async () => {
  const own = await testNats();
  const bus = await connectBus({ url: own.url, name: 'caller' });
  const client = createLaneClient({ bus, lane: 'x', subject: 'lane.x', replySubject: 'reply.caller.x' });
  await own.kill();
  while (bus.connected()) await sleep(5);
  await expect(client.request(call('echo'))).rejects.toMatchObject({ code: 'disconnected' });
  client.close();
  await bus.nc.close();
  await own.stop();
});
