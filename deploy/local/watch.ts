import { watch } from 'node:fs';
import { join } from 'node:path';
import { buildPortal } from './builds.ts';
import type { Cluster } from './cluster.ts';
import { serviceSpecs } from './programs.ts';
import type { Report } from './report.ts';

const services = serviceSpecs.map(({ name }) => name as string);
const folders = ['proto', 'services', 'admin-ui/src', 'admin-ui/static'];

/** Editors write a file in several steps, and switching branches writes many files. */
const settleMs = 150;

/** Services, and `portal` for a build of the pages. Empty for tests and files that only a new start reads. */
export const targetsOf = (file: string): readonly string[] => {
  if (!/\.(tsx?|css|svg|html)$/.test(file) || /\.test\.tsx?$|(^|\/)(testing|node_modules)\//.test(file))
    return [];
  if (file.startsWith('admin-ui/')) return ['portal'];
  if (file.startsWith('proto/')) return [...services, 'portal'];
  const [, room = ''] = file.split('/');
  return services.includes(room) ? [room] : services;
};

export const watchSources = ({ root, cluster, report, signal }: WatchOptions): void => {
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let work = Promise.resolve();

  const apply = async (): Promise<void> => {
    if (pending.size === 0 || signal.aborted) return;
    const targets = [...pending];
    pending.clear();
    report.line(`changed: ${targets.join(', ')}`);
    const restarted = new Set(targets.filter((target) => target !== 'portal'));
    if (targets.includes('portal')) {
      await buildPortal(root, report);
      restarted.add('gateway');
    }
    await Promise.all([...restarted].map((service) => cluster.restart(service)));
  };
  const changed = (file: string): void => {
    for (const target of targetsOf(file)) pending.add(target);
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(apply).catch((error: Error) => report.line(`${error.message}\n${error.cause ?? ''}`));
    }, settleMs);
  };
  for (const folder of folders) {
    watch(join(root, folder), { recursive: true, signal }, (_event, name) => {
      if (name !== null) changed(`${folder}/${name}`);
    });
  }
};

interface WatchOptions {
  readonly root: string;
  readonly cluster: Pick<Cluster, 'restart'>;
  readonly report: Report;
  readonly signal: AbortSignal;
}
