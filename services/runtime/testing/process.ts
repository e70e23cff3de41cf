import { cleanUp } from './cleanup.ts';
import { compileCache } from './compile-cache.ts';
import { startProgram } from './program.ts';

export interface TestProcess<Report> {
  readonly report: Report;
  stop(): Promise<number | null>;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
}

interface ProcessOptions {
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Resolves when the process has reported. @throws with its output if it ends before */
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
