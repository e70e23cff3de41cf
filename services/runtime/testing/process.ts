import { cleanUp } from './cleanup.ts';
import { compileCache } from './compile-cache.ts';
import { startProgram } from './program.ts';

/** A process of a service, which a test may stop or kill. */
export interface TestProcess<Report> {
  /** What it reported first: that it is ready and where its metrics are, unless its program reports more. */
  readonly report: Report;
  /** Sends SIGTERM and resolves when it has drained. @returns its exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL and resolves when it has ended. */
  kill(): Promise<void>;
  /** Freezes it until `resume`. */
  pause(): void;
  resume(): void;
}

interface ProcessOptions {
  /** The path of its `main.ts`. */
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/**
 * Starts a process as the supervisor does and resolves when it has reported. It is killed at the end of the test or
 * file. @throws with its output if it ends before.
 */
export const testProcess = async <Report = { readonly metricsUrl: string }>({
  entry,
  env,
  cwd,
}: ProcessOptions): Promise<TestProcess<Report>> => {
  const { child, end } = startProgram(process.execPath, [entry], {
    env: { ...compileCache, ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  cleanUp(async () => void (await end('SIGKILL')));
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (text) => {
      output = (output + text).slice(-maxOutput);
    });
  const report = await new Promise<Report>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Report));
    child.once('exit', (code, signal) => reject(new Error(`${entry} ended (${code ?? signal}):\n${output}`)));
  });
  return {
    report,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
};

const maxOutput = 20_000;
