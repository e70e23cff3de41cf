import { useQuery } from '@tanstack/react-query';
import { call } from '../../model/client.ts';
import { keysQuery, subscriptionsQuery } from '../../model/queries.ts';
import type { ApiKey } from '../../model/scopes.ts';
import { useBaseUrl, useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Card, Stack } from '../../ui/layout.tsx';
import { save } from '../../ui/save.ts';
import { Empty, Loaded, SkeletonCard } from '../../ui/states.tsx';
import { ImportSettings } from './import-settings.tsx';
import { curlOf, ownSubscriptions, type Present, settingsOf } from './settings.ts';

export function SettingsAsCode() {
  const query = useQuery(presentQuery);
  const baseUrl = useBaseUrl();
  const { company } = useSession();
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
            <Card
              title="Subscriptions as curl"
              description="Creates the same subscriptions in another company, with its key in CAUSEWAY_KEY, with new signing secrets in the answers. Run again within 24 hours, it creates nothing again. Keys are created in the portal only."
            >
              {ownSubscriptions(present).length === 0 ? (
                <Empty title="No subscriptions">Subscriptions that you add in the portal appear here.</Empty>
              ) : (
                <CodeBlock code={curlOf(present, company.id, baseUrl)} language="code" label="curl script" />
              )}
            </Card>
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
