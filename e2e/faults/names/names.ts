import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Host names of the cluster that a fault can point to other addresses. */
export interface Names {
  set(name: string, address: string): void;
  /** The environment of a process that knows the names. */
  readonly environment: NodeJS.ProcessEnv;
}

/** @param folder where the file is that the processes read. */
export const makeNames = (folder: string): Names => {
  const file = join(folder, 'names.json');
  const addresses: Record<string, string> = {};
  const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
  return {
    set: (name, address) => {
      addresses[name] = address;
      // At once, because processes read it at any time.
      writeFileSync(`${file}.new`, JSON.stringify(addresses));
      renameSync(`${file}.new`, file);
    },
    environment: { FAULT_NAMES_FILE: file, NODE_OPTIONS: `--import=${preload}` },
  };
};
