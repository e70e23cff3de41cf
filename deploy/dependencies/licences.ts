import { readFileSync } from 'node:fs';
import { closureOf, type ForeignPackage, type Lock } from './closure.ts';

const root = new URL('../../', import.meta.url);

export const licencesFile = new URL('LICENCES.md', import.meta.url);

/** The workspaces in each image (deploy/docker). */
export const imageWorkspaces = {
  'causeway/services': [
    'proto',
    'services/access',
    'services/crm',
    'services/dispatcher',
    'services/gateway',
    'services/runtime',
    'services/webhooks',
  ],
  'causeway/admin-ui': ['admin-ui'],
} as const;
export type ImageName = keyof typeof imageWorkspaces;

export const readLock = (): Lock =>
  JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as Lock;

export const packagesOf = (image: ImageName): readonly ForeignPackage[] =>
  closureOf(readLock(), imageWorkspaces[image]);

/** Renders the list of third-party packages in the images, from the lock file. */
export const renderLicences = (): string =>
  [
    '# Licences',
    '',
    'Packages of others in the images, from the lock file. Written by `deploy/dependencies/main.ts`.',
    ...(Object.keys(imageWorkspaces) as ImageName[]).flatMap((image) => [
      '',
      `## ${image}`,
      '',
      '| package | version | licence |',
      '|---|---|---|',
      ...packagesOf(image).map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`),
    ]),
    '',
  ].join('\n');
