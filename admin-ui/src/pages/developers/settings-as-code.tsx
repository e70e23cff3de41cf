import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { useBaseUrl } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Card, Stack } from '../../ui/layout.tsx';
import { save } from '../../ui/save.ts';
import { Empty, Loaded, SkeletonCard } from '../../ui/states.tsx';
import type { ApiKey } from '../keys/scopes.ts';
import { keysQuery, subscriptionsQuery } from '../queries.ts';
import { curlOf, settingsOf } from './settings.ts';

export function SettingsAsCode() {
  const query = useQuery(settingsQuery);
  const baseUrl = useBaseUrl();
  return (
    <Loaded query={query} skeleton={<SkeletonCard lines={14} />}>
      {(settings) => {
        const json = JSON.stringify(settings, null, 2);
        return (
          <Stack>
            <Card
              title={t`Subscriptions and keys as JSON`}
              description={t`The subscriptions that no tool manages, and the active keys, always in the same order: keep the file under version control to see what changed. It has no signing secret, no key and no header value.`}
              actions={
                <Button onClick={() => save('causeway-settings.json', `${json}\n`)}>
                  <Trans>Download JSON</Trans>
                </Button>
              }
            >
              <CodeBlock code={json} language="json" label={t`settings`} />
            </Card>
            <Card
              title={t`Subscriptions as curl`}
              description={t`Creates the same subscriptions in another company, with its key in CAUSEWAY_KEY. Each run creates them again, with new signing secrets in the answers. Keys are created in the portal only.`}
            >
              {settings.subscriptions.length === 0 ? (
                <Empty title={t`No subscriptions`}>
                  <Trans>Subscriptions that you add in the portal appear here.</Trans>
                </Empty>
              ) : (
                <CodeBlock code={curlOf(settings, baseUrl)} language="code" label={t`curl script`} />
              )}
            </Card>
          </Stack>
        );
      }}
    </Loaded>
  );
}

const settingsQuery = {
  queryKey: [...subscriptionsQuery.queryKey, ...keysQuery.queryKey, 'settings'],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const [{ subscriptions }, keys] = await Promise.all([
      call('listPortalSubscriptions', {}, signal),
      activeKeys(signal),
    ]);
    return settingsOf(subscriptions, keys);
  },
  // A key that was made a moment ago is in the export.
  staleTime: 0,
};

const activeKeys = async (signal: AbortSignal): Promise<readonly ApiKey[]> => {
  const all: ApiKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('listApiKeys', { query: { state: 'active', limit: 200, cursor } }, signal);
    all.push(...page.keys);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
};
