import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Processes } from '../cpu.ts';
import type { Table } from '../report/table.ts';

/** Makes every Node process write a CPU profile to `folder` when it ends. */
export const profilingEnv = (folder: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}`,
});

/** Where the named processes spent their time: functions by self time, and packages. */
export const profileTables = (folder: string, processes: Processes, names: readonly string[]): Table[] => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  return names.flatMap((name) => {
    // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile
    const file = files.find((candidate) => candidate.split('.')[3] === String(processes.get(name)));
    if (file === undefined) return [];
    const selfUs = selfTimes(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile);
    const busyUs = [...selfUs].reduce(
      (sum, [{ functionName }, us]) => (functionName === '(idle)' ? sum : sum + us),
      0,
    );
    const table = (title: string, label: (frame: Frame) => string, top: number): Table => ({
      title: `${name}: ${title}`,
      columns: ['where', 'of its CPU time'],
      rows: grouped(selfUs, label)
        .slice(0, top)
        .map(([where, us]) => [where, `${((us / busyUs) * 100).toFixed(1)} %`]),
    });
    return [table('packages by self time', packageOf, 14), table('functions by self time', functionOf, 30)];
  });
};

const selfTimes = ({ nodes, samples, timeDeltas }: Profile): ReadonlyMap<Frame, number> => {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const selfUs = new Map<Frame, number>();
  for (const [at, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame) selfUs.set(frame, (selfUs.get(frame) ?? 0) + (timeDeltas[at] ?? 0));
  }
  return selfUs;
};

const grouped = (selfUs: ReadonlyMap<Frame, number>, label: (frame: Frame) => string): [string, number][] => {
  const sums = new Map<string, number>();
  for (const [frame, us] of selfUs) {
    if (frame.functionName !== '(idle)') sums.set(label(frame), (sums.get(label(frame)) ?? 0) + us);
  }
  return [...sums].toSorted((a, b) => b[1] - a[1]);
};

/** The part of a script's URL that does not depend on the machine. */
const place = (url: string): string =>
  url.replace(/^.*\/node_modules\//, '').replace(/^.*\/(?=(?:services|proto|deploy|e2e)\/)/, '');

const packageOf = ({ url, functionName }: Frame): string => {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native';
  if (url.startsWith('node:')) return 'node';
  const parts = place(url).split('/');
  return parts.slice(0, parts[0]?.startsWith('@') || parts[0] === 'services' ? 2 : 1).join('/');
};

const functionOf = ({ url, functionName, lineNumber }: Frame): string =>
  url === '' ? functionName || 'native' : `${functionName || '(anonymous)'} ${place(url)}:${lineNumber + 1}`;

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame }[];
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}
