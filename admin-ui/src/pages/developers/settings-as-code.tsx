import { useQuery } from '@tanstack/react-query';
import { call } from '../../model/client.ts';
import { keysQuery, subscriptionsQuery } from '../../model/queries.ts';
import type { ApiKey } from '../../model/scopes.ts';
import { useBaseUrl } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Card, Stack } from '../../ui/layout.tsx';
import { save } from '../../ui/save.ts';
import { Loaded, SkeletonCard } from '../../ui/states.tsx';
import { ImportSettings } from './import-settings.tsx';
import { type Present, settingsOf } from './settings.ts';

export function SettingsAsCode() {
  const query = useQuery(presentQuery);
  const baseUrl = useBaseUrl();
  return (
    <Loaded query={query} skeleton={<SkeletonCard lines={14} />}>
      {(present) => {
        const schema = new URL('/docs/settings.schema.json', baseUrl).href;
        const json = JSON.stringify(settingsOf(present, schema), null, 2);
        return (
          <Stack>
            <Card
              title="Subscriptions and keys as JSON"
              description="The subscriptions that no tool manages, and the active keys, always in the same order: keep the file under version control to see what changed. It has no signing secret, no key and no header value."
              actions={
                <Button onClick={() => save('causeway-settings.json', `${json}\n`)}>Download JSON</Button>
              }
            >
              <CodeBlock code={json} language="json" label="settings" />
            </Card>
            <ImportSettings readPresent={readPresent} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

const readPresent = async (signal?: AbortSignal): Promise<Present> => {
  const [{ subscriptions }, keys] = await Promise.all([
    call('listPortalSubscriptions', {}, signal),
    activeKeys(signal),
  ]);
  return { subscriptions, keys };
};

const presentQuery = {
  queryKey: [...subscriptionsQuery.queryKey, ...keysQuery.queryKey, 'settings'],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => readPresent(signal),
  // A key that was made a moment ago is in the export.
  staleTime: 0,
};

const activeKeys = async (signal: AbortSignal | undefined): Promise<readonly ApiKey[]> => {
  const all: ApiKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('listApiKeys', { query: { state: 'active', limit: 200, cursor } }, signal);
    all.push(...page.keys);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
};
