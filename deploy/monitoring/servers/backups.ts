import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** The age of the newest dump in a folder; undefined if it has none. A dump that is being written has another name. */
export const readBackupAge = async (folder: string, nowMs: number): Promise<number | undefined> => {
  const dumps = (await readdir(folder)).filter((name) => name.endsWith('.sql.gz'));
  const timesMs = await Promise.all(dumps.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return timesMs.length === 0 ? undefined : Math.max(0, nowMs - Math.max(...timesMs));
};

/** Whether a folder's copy of the binary log reaches a position. */
export const hasBinlog = async (
  folder: string,
  { file, position }: { readonly file: string; readonly position: number },
): Promise<boolean> => {
  // The names end in numbers of the same length.
  if ((await readdir(folder)).some((name) => /^binlog\.\d+$/.test(name) && name > file)) return true;
  const size = await stat(join(folder, file)).then(
    (found) => found.size,
    () => 0,
  );
  return size >= position;
};

export const readFreeRatio = async (path: string): Promise<number> => {
  const { bavail, blocks } = await statfs(path);
  return bavail / blocks;
};
