import { authorization, natsUsers } from '../permissions.ts';

/**
 * The variable with a user's password on a production server. Its value is quoted, so that no password is read as a
 * number.
 */
export const passwordVariable = (user: string): string =>
  `NATS_PASSWORD_${user.toUpperCase().replace('-', '_')}`;

/**
 * The second user of each service, with the same permissions and a password of its own. While services use one of the two,
 * the password of the other can be replaced (deploy/operations.md).
 */
const nextOf = (name: string): string => `${name}-next`;

/** The names that need a password. */
export const userNames: readonly string[] = natsUsers(() => '').flatMap(({ name }) => [name, nextOf(name)]);

/** The rendered file; it is committed, so that manifests can be applied directly. */
export const usersFile = new URL('../../k8s/base/nats/users.conf', import.meta.url);

/** Renders the users of the production servers. They are the local cluster's, with other passwords. */
export const renderUsersFile = (): string => {
  const users = natsUsers(() => '').flatMap((user) =>
    [user.name, nextOf(user.name)].map((name) => ({ ...user, name, password: `$${passwordVariable(name)}` })),
  );
  const section = JSON.stringify(authorization(users), undefined, 2);
  // A variable is expanded only outside of quotes.
  return `${head}authorization: ${section.replace(/"(\$NATS_PASSWORD_[A-Z_]+)"/g, '$1')}\n`;
};

const head = `# Generated from deploy/nats/permissions.ts by deploy/nats/production/main.ts. Do not edit.\n`;
