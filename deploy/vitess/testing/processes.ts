import { chmodSync, chownSync, copyFileSync, linkSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnGuarded } from '../../local/guarded.ts';
import { run } from '../../local/toolchain/run.mjs';
import type { Program } from '../../local/toolchain.ts';

export interface Processes {
  /** @throws with the end of its log if it ends before, or takes longer than two minutes */
  start(name: string, program: Program, args: readonly string[], isReady: IsReady): Promise<Started>;
  /** @returns its output. @throws with its output if it fails */
  run(program: Program, args: readonly string[], timeoutMs: number): Promise<string>;
  /** Vitess refuses to run as root: as root, this wraps a program of Vitess so that it runs as `nobody`. */
  unprivileged(program: string): Program;
}

type IsReady = () => Promise<boolean>;

export interface Started {
  readonly pid: number;
  stop(): Promise<void>;
}

const nobody = 65534;
const readyWithinMs = 120_000;
const stopGraceMs = 20_000;

export const openProcesses = (home: string): Processes => {
  const isRoot = process.getuid?.() === 0;
  const [work, bin, logs] = ['work', 'bin', 'logs'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [work, bin, logs]) mkdirSync(folder, { recursive: true });
  if (isRoot) {
    chmodSync(home, 0o711);
    chownSync(work, nobody, nobody);
  }
  const env = { PATH: '/usr/bin:/bin', HOME: work, TMPDIR: work, VTDATAROOT: work };

  return {
    start: async (name, { command, args: first }, args, isReady) => {
      const logFile = join(logs, `${name}.log`);
      const server = await spawnGuarded({ command, args: [...first, ...args], env, logFile });
      for (const endMs = Date.now() + readyWithinMs; !(await isReady()); await sleep(100)) {
        if (!server.hasExited() && Date.now() < endMs) continue;
        await server.stop(stopGraceMs);
        const words = readFileSync(logFile, 'utf8').trim().split('\n').slice(-12).join('\n');
        throw new Error(`${name} did not get ready; the end of its log, ${logFile}:\n${words}`);
      }
      return { pid: server.pid, stop: () => server.stop(stopGraceMs) };
    },
    run: async ({ command, args: first }, args, timeout) => {
      try {
        return await run(command, [...first, ...args], { env, timeout });
      } catch (error) {
        const { output = '' } = error as { output?: string };
        throw new Error(`${first.at(-1) ?? command} ${args.join(' ')} failed:\n${output}`, { cause: error });
      }
    },
    unprivileged: (program) =>
      isRoot
        ? {
            command: 'setpriv',
            args: [
              ...[`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'],
              // Changing the user clears the signal that the kernel sends when this process dies.
              ...['--pdeathsig', 'TERM'],
              reachable(program, bin),
            ],
          }
        : { command: program, args: [] },
  };
};

export const isOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** Another name of the program in a folder that `nobody` can reach: the toolchain's cache is in a home folder. */
const reachable = (program: string, folder: string): string => {
  const name = join(folder, basename(program));
  try {
    linkSync(program, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EXDEV') copyFileSync(program, name);
    else if (code !== 'EEXIST') throw error;
  }
  return name;
};
