import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

export const licencesFile = new URL('LICENCES.md', import.meta.url);

export const imageWorkspaces = {
  'causeway/services': [
    'proto',
    'services/access',
    'services/agents',
    'services/crm',
    'services/deliveries',
    'services/dispatcher',
    'services/gateway',
    'services/identity',
    'services/runtime',
    'services/webhooks',
  ],
  'pages of the portal': ['admin-ui'],
} as const;
export type ImageName = keyof typeof imageWorkspaces;

export const readLock = (): Lock =>
  JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as Lock;

export const packagesOf = (image: ImageName): readonly ForeignPackage[] =>
  closureOf(readLock(), imageWorkspaces[image]);

export const renderLicences = (): string =>
  [
    '# Licences',
    '',
    'Packages of others in the images, from the lock file. Written by `npm run generate`.',
    ...(Object.keys(imageWorkspaces) as ImageName[]).flatMap((image) => [
      '',
      `## ${image}`,
      ...[...Map.groupBy(packagesOf(image), ({ licence }) => licence)]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .flatMap(([licence, packages]) => [
          '',
          `### ${licence}`,
          '',
          ...packages.map(
            ({ name, alias, version }) => `- ${name}${alias ? `, republished as ${alias}` : ''} ${version}`,
          ),
        ]),
    ]),
    '',
  ].join('\n');

interface LockEntry {
  /** Of an alias: under which it is published. */
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

interface ForeignPackage {
  readonly name: string;
  readonly alias: string | undefined;
  readonly version: string;
  readonly licence: string;
  readonly integrity: string | undefined;
  readonly hasInstallScript: boolean;
}

/** As `npm ci --omit=dev --omit=optional --workspace …` installs them. */
const closureOf = (lock: Lock, workspaces: readonly string[]): readonly ForeignPackage[] => {
  const seen = new Set<string>();
  const visit = (folder: string): void => {
    if (seen.has(folder)) return;
    seen.add(folder);
    const entry = lock.packages[folder];
    if (!entry) throw new Error(`the lock file has no ${folder}`);
    for (const name of needs(entry)) {
      const found = lookUp(lock, folder, name);
      if (!found) throw new Error(`the lock file has no ${name} for ${folder}`);
      visit(found);
    }
  };
  for (const workspace of workspaces) visit(workspace);
  return [...seen]
    .filter((folder) => folder.includes('node_modules/'))
    .map((folder) => foreign(folder, lock.packages[folder]!))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

const needs = ({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }: LockEntry) => [
  ...Object.keys(dependencies),
  ...Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional),
];

const lookUp = (lock: Lock, from: string, name: string): string | undefined => {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const entry = lock.packages[candidate];
    if (entry) return entry.link ? entry.resolved : candidate;
    if (folder === '') return undefined;
  }
};

const foreign = (folder: string, entry: LockEntry): ForeignPackage => ({
  name: folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
  alias: entry.name,
  version: entry.version ?? '',
  licence: entry.license ?? 'none',
  integrity: entry.integrity,
  hasInstallScript: entry.hasInstallScript ?? false,
});
