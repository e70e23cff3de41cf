// Loaded into a process before its own modules (`node --import`). Looks up names that end in `.fault` in the JSON file
// `FAULT_NAMES_FILE`, which a fault changes while the process runs. All other names are looked up as usual.

import dns, { type LookupAddress } from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

type Callback = (error: Error | null, found: string | LookupAddress[], family?: number) => void;

const file = process.env.FAULT_NAMES_FILE;
const systemLookup = dns.lookup as (name: string, options: object, callback: Callback) => void;

const lookup = (name: string, ...rest: [Callback] | [{ readonly all?: boolean }, Callback]): void => {
  const callback = rest.at(-1) as Callback;
  const options = rest.length === 2 ? rest[0] : {};
  if (!file || !name.endsWith('.fault')) {
    systemLookup(name, options, callback);
    return;
  }
  const addresses = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  const address = addresses[name];
  process.nextTick(() => {
    if (address === undefined) callback(new Error(`no address for ${name}`), '');
    else if (options.all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  });
};

dns.lookup = lookup as unknown as typeof dns.lookup;
syncBuiltinESMExports();
