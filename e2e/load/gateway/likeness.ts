import { isDeepStrictEqual } from 'node:util';
import type { World } from './world.ts';

/** Fails unless both systems give the same answers to the same requests, byte for byte. */
export const requireLikeness = async (
  { cluster, monolith, data }: World,
  paths: readonly string[],
): Promise<void> => {
  for (const path of paths) {
    for (const key of data.spareKeys) {
      const [one, other] = await Promise.all([
        ask(cluster.baseUrl, path, key),
        ask(monolith.baseUrl, path, key),
      ]);
      if (isDeepStrictEqual(one, other)) continue;
      throw new Error(`the answers differ at ${path}:\n${JSON.stringify(one)}\n${JSON.stringify(other)}`);
    }
  }
};

const ask = async (baseUrl: string, path: string, key: string) => {
  const response = await fetch(`${baseUrl}${path}`, {
    headers: { 'X-Api-Key': key, 'X-Request-Id': 'like-1' },
  });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${baseUrl}${path} answered ${response.status}: ${body}`);
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !ofTheServer.has(name)));
  return {
    status: response.status,
    headers: {
      ...headers,
      // Fastify adds the charset, which for JSON is always UTF-8.
      'content-type': headers['content-type']?.replace('; charset=utf-8', ''),
      ratelimit: headers.ratelimit?.replace(/t=\d+/, ''),
    },
    body,
  };
};

/** Headers about the HTTP server itself and the connection. */
const ofTheServer: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'uwebsockets',
]);
