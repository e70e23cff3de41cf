import type { SettingsFile } from '@causeway/proto';
import type { ApiKey } from '../keys/scopes.ts';
import type { Subscription } from '../subscriptions/subscriptions.ts';

/** Without what a tool or an agent manages. The order is that of names, then of creation. */
export const settingsOf = (
  subscriptions: readonly Subscription[],
  keys: readonly ApiKey[],
): SettingsFile => ({
  version: 1,
  subscriptions: subscriptions
    .filter(({ managedBy, isAgent }) => managedBy === null && !isAgent)
    .sort(byName)
    .map(({ name, url, eventTypes, description, enabled, conditions, pace, headerNames }) => ({
      name,
      url,
      eventTypes: [...eventTypes].sort(),
      description,
      enabled,
      ...(conditions && { conditions }),
      ...(pace && { pace }),
      ...(headerNames && { headerNames }),
    })),
  keys: keys
    .filter(({ isActive }) => isActive)
    .sort(byName)
    .map(({ name, scopes, note, expiresUtc, networks }) => ({ name, scopes, note, expiresUtc, networks })),
});

interface Named {
  readonly id: number;
  readonly name: string | null;
}

/** By code units: the same in every language. */
const byName = (a: Named, b: Named): number => {
  const [left, right] = [a.name ?? '', b.name ?? ''];
  if (left === right) return a.id - b.id;
  return left < right ? -1 : 1;
};

/** A script that creates the subscriptions through the API. Header values are secret: the script names what to add. */
export const curlOf = ({ subscriptions }: SettingsFile, baseUrl: string): string =>
  subscriptions
    .map(({ headerNames, ...body }) =>
      [
        ...(headerNames ? [`# Add "headers" with values for: ${headerNames.join(', ')}`] : []),
        `curl --fail-with-body -X POST ${quoted(`${baseUrl}/webhooks/subscriptions`)} \\`,
        '  -H "X-Api-Key: $CAUSEWAY_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        `  --data-raw ${quoted(JSON.stringify(body))}`,
      ].join('\n'),
    )
    .join('\n\n');

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
