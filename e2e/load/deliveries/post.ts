import { Pool } from 'undici';

// The upper bound: one process that only posts the same request repeatedly with undici.
// Arguments: URL, concurrency, seconds, and the request as JSON {headers: [name, value, …], body}.
// Prints {requests, seconds}.

const [url = '', concurrency = '64', seconds = '8', request = '{}'] = process.argv.slice(2);
const { headers, body } = JSON.parse(request) as { headers: string[]; body: string };
// undici sets these itself.
const own = new Set(['host', 'connection', 'content-length']);
const sent = headers.flatMap((name, at) =>
  at % 2 === 0 && !own.has(name.toLowerCase()) ? [name, headers[at + 1] as string] : [],
);

const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1 });
const bytes = Buffer.from(body);
const startedMs = performance.now();
const endMs = startedMs + Number(seconds) * 1000;
let requests = 0;

const loop = async (): Promise<void> => {
  while (performance.now() < endMs) {
    const response = await pool.request({ path: pathname, method: 'POST', headers: sent, body: bytes });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`the receiver answered ${response.statusCode}`);
    requests++;
  }
};

await Promise.all(Array.from({ length: Number(concurrency) }, loop));
const elapsed = (performance.now() - startedMs) / 1000;
await pool.close();
process.stdout.write(JSON.stringify({ requests, seconds: elapsed }));
