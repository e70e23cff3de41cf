import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly read_only?: boolean;
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period?: string;
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
}

const file = new URL('../../compose.yaml', import.meta.url);
export const composeText = readFileSync(file, 'utf8');

export const compose = parse(composeText, { merge: true, strict: true }) as {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean; readonly driver_opts?: object }>>;
};

/** What `compose.small.yaml` changes. */
export const small = parse(readFileSync(new URL('../../compose.small.yaml', import.meta.url), 'utf8'), {
  merge: true,
  customTags: [{ tag: '!override', collection: 'map' }],
}) as Pick<typeof compose, 'services'>;

/** Expands `${NAME}`, `${NAME:-default}` and `${NAME:?}` like compose. @throws if a required variable is missing. */
export const interpolate = (text: string, env: Readonly<Record<string, string>>): string =>
  text.replace(/\$\{([A-Z_0-9]+)(?::(-|\?)([^}]*))?\}/g, (_, name: string, mark?: string, rest = '') => {
    const value = env[name];
    if (value) return value;
    if (mark === '?') throw new Error(`${name} is required`);
    return mark === '-' ? rest : '';
  });
