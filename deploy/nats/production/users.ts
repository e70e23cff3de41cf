import { authorization, natsUsers } from '../permissions.ts';

/** Quoted, so that no password is read as a number. */
export const passwordVariable = (user: string): string =>
  `NATS_PASSWORD_${user.toUpperCase().replace('-', '_')}`;

/** A second user for each service: the password of the first can then be replaced (deploy/operations.md). */
const nextOf = (name: string): string => `${name}-next`;

export const userNames: readonly string[] = natsUsers(() => '').flatMap(({ name }) => [name, nextOf(name)]);

/** Committed, so that manifests can be applied directly. */
export const usersFile = new URL('../../k8s/base/nats/users.conf', import.meta.url);

export const renderUsersFile = (): string => {
  const users = natsUsers(() => '').flatMap((user) =>
    [user.name, nextOf(user.name)].map((name) => ({ ...user, name, password: `$${passwordVariable(name)}` })),
  );
  const section = JSON.stringify(authorization(users), undefined, 2);
  // A variable is expanded only outside of quotes.
  return `${head}authorization: ${section.replace(/"(\$NATS_PASSWORD_[A-Z_]+)"/g, '$1')}\n`;
};

const head = `# Generated from deploy/nats/permissions.ts by deploy/nats/production/main.ts. Do not edit.\n`;
