import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { cleanUp } from '@causeway/runtime/testing';
import { temporary } from '../../data/testing/cluster.ts';

/** What the guide's `k` does here. Any other command fails. */
interface Actions {
  /** `patch secret NAME --patch {"stringData":…}` */
  patchSecret(name: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** `rollout restart deployment NAME`, for which `rollout status` waits. */
  rollOut(name: string): Promise<void>;
}

export const startKubectl = async ({ patchSecret, rollOut }: Actions) => {
  const rollouts = new Map<string, Promise<void>>();
  const act = async (words: readonly string[]): Promise<void> => {
    const [verb, kind, at = '', name = ''] = words;
    if (verb === 'patch' && kind === 'secret') await patchSecret(at, JSON.parse(words.at(-1)!).stringData);
    else if (verb === 'rollout' && kind === 'restart') {
      const rollout = rollOut(name);
      rollout.catch(() => {});
      rollouts.set(name, rollout);
    } else if (verb === 'rollout' && kind === 'status') await rollouts.get(name)!;
    else throw new Error(`unexpected: ${words.join(' ')}`);
  };
  const server = createServer((request, response) => {
    void json(request)
      .then((words) => act(words as string[]))
      .then(
        () => response.end(),
        (error) => response.writeHead(500).end(String(error)),
      );
  });
  // A rollout takes longer than Node would wait.
  server.requestTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUp(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });
  const file = join(temporary('kubectl'), 'k.mjs');
  writeFileSync(
    file,
    `const reply = await fetch('http://127.0.0.1:${(server.address() as AddressInfo).port}', {
  method: 'POST',
  body: JSON.stringify(process.argv.slice(2)),
});
if (!reply.ok) {
  process.stderr.write(await reply.text());
  process.exitCode = 1;
}
`,
  );
  return { command: process.execPath, args: [file] };
};
