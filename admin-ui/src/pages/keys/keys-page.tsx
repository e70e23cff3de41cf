import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useRefusal, useSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Empty } from '../../ui/states.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyTable } from './key-table.tsx';
import { keysPageQuery } from './queries.ts';
import { RevokeKey } from './revoke-key.tsx';

export function KeysPage() {
  const { show, cursor, dialog, revoke } = useSearch({ from: '/in/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const refusal = useRefusal('developer');
  const { limits } = useSession();
  const keys = useQuery(keysPageQuery({ show, cursor }));
  const shown = keys.data?.keys;
  const next = keys.data?.hasMore ? keys.data.nextCursor : null;
  const open = (search: { dialog?: 'create'; revoke?: number }): void =>
    void navigate({ search: { show, cursor, ...search } });
  const close = (): void => void navigate({ search: { show, cursor }, replace: true });
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
        title={show === 'revoked' ? 'Revoked keys' : 'Active keys'}
        actions={
          <Segmented
            label="Keys"
            value={show ?? 'active'}
            options={[
              { value: 'active', label: 'Active' },
              { value: 'revoked', label: 'Revoked' },
            ]}
            onChange={(value) =>
              void navigate({ search: value === 'revoked' ? { show: value } : {}, replace: true })
            }
          />
        }
      >
        {keys.isError && !shown ? (
          <Failed error={keys.error} retry={() => void keys.refetch()} />
        ) : (
          <KeyTable
            keys={shown}
            refusal={refusal}
            onRevoke={(key) => open({ revoke: key.id })}
            emptyState={
              show === 'revoked' ? (
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
        )}
        <Pager
          onFirst={cursor === undefined ? null : () => void navigate({ search: { show } })}
          onNext={next === null ? null : () => void navigate({ search: { show, cursor: next } })}
        />
      </Card>
      <CreateKey open={dialog === 'create' && refusal === undefined} onClose={close} />
      <RevokeKey apiKey={shown?.find((key) => key.id === revoke && key.isActive)} onClose={close} />
    </Page>
  );
}
