import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useLimitedKeys } from '../../app/attention.ts';
import { useRefusal, useSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { number } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Empty, OrError } from '../../ui/states.tsx';
import { Filter, SearchBox, Toolbar } from '../../ui/toolbar.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyTable } from './key-table.tsx';
import { type KeySearch, keySorts, keysPageQuery } from './queries.ts';
import { RevokeKey } from './revoke-key.tsx';

export function KeysPage() {
  const { dialog, revoke, ...search } = useSearch({ from: '/in/keys' });
  const { key, ...wanted } = search;
  const { show, q, cursor } = wanted;
  const navigate = useNavigate({ from: '/keys' });
  const refusal = useRefusal('developer');
  const { limits } = useSession();
  const limited = useLimitedKeys();
  const ids = show === 'limited' ? limited.map(({ id }) => id) : undefined;
  const keys = useQuery({
    ...keysPageQuery(wanted, ids),
    placeholderData: keepPreviousData,
    enabled: ids?.length !== 0,
  });
  const shown = ids?.length === 0 ? [] : keys.data?.keys;
  const open = (dialogs: { dialog?: 'create'; revoke?: number }): void =>
    void navigate({ search: { ...search, ...dialogs } });
  const close = (): void => void navigate({ search, replace: true });
  const set = (change: KeySearch): void =>
    void navigate({ search: { ...wanted, cursor: undefined, ...change }, replace: true });
  const create = (
    <Button
      variant="primary"
      icon={<Plus />}
      disabledReason={refusal}
      onClick={() => open({ dialog: 'create' })}
    >
      Create API key
    </Button>
  );
  return (
    <Page
      title="API keys"
      description={`Create one key for each tool, so that you can see what it does and revoke it alone. Each key can make ${limits.read} read and ${limits.write} write requests a minute.`}
      actions={create}
      refreshing={keys.isRefetching}
    >
      <Card
        flush
        title={titles[show ?? 'active']}
        actions={
          <Segmented
            label="Keys"
            value={show ?? 'active'}
            options={[
              { value: 'active', label: 'Active' },
              ...(limited.length > 0 || show === 'limited'
                ? [{ value: 'limited' as const, label: `At their limit (${number(limited.length)})` }]
                : []),
              { value: 'revoked', label: 'Revoked' },
            ]}
            onChange={(value) => set({ show: value === 'active' ? undefined : value })}
          />
        }
      >
        {(shown === undefined || shown.length > 0 || q !== undefined || cursor !== undefined) && (
          <Toolbar>
            <SearchBox label="Search keys" value={q} onChange={(q) => set({ q })} />
            <Filter
              label="Order"
              value={wanted.sort ?? 'newest'}
              options={sortOptions}
              onChange={(sort) => set({ sort: sort === 'newest' ? undefined : sort })}
            />
          </Toolbar>
        )}
        <OrError query={keys}>
          <KeyTable
            keys={shown}
            refusal={refusal}
            marked={key}
            limited={limited}
            onRevoke={(one) => open({ revoke: one.id })}
            emptyState={
              q !== undefined ? (
                <Empty
                  icon={<KeyRound />}
                  title={`No ${show === 'revoked' ? show : 'active'} key matches`}
                  action={<Button onClick={() => set({ q: undefined })}>Clear search</Button>}
                />
              ) : show === 'limited' ? (
                <Empty icon={<KeyRound />} title="No key reached its limit in the last hour" />
              ) : show === 'revoked' ? (
                <Empty icon={<KeyRound />} title="No revoked keys">
                  Revoked keys stay listed here, so that you can see when they were last used.
                </Empty>
              ) : (
                <Empty icon={<KeyRound />} title="No API keys yet" action={create}>
                  Create a key for the first tool you want to connect, such as Zapier, Make or your website.
                </Empty>
              )
            }
          />
        </OrError>
        <Pager
          first={wanted.sort === undefined ? 'Newest' : 'First'}
          next={wanted.sort === undefined ? 'Older' : 'Next'}
          cursor={cursor}
          page={keys.data}
          onPage={(to) => void navigate({ search: { ...wanted, cursor: to } })}
        />
      </Card>
      <CreateKey open={dialog === 'create' && refusal === undefined} onClose={close} />
      <RevokeKey apiKey={shown?.find((one) => one.id === revoke && one.isActive)} onClose={close} />
    </Page>
  );
}

const titles = {
  active: 'Active keys',
  revoked: 'Revoked keys',
  limited: 'Keys that reached their limit in the last hour',
} as const;

const sortLabels = {
  newest: 'Newest first',
  used: 'Last used first',
  unused: 'Least recently used first',
} as const;
const sortOptions = keySorts.map((value) => ({ value, label: sortLabels[value] }));
