import { t } from '@lingui/core/macro';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, operationQuery, useMutation } from '../../api/client.ts';
import { createPasskey, knowsPasskeys } from '../../app/passkeys.ts';
import { sessionQuery, useSession } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Cut } from '../../ui/values.tsx';
import { sessionsQuery } from '../queries.ts';
import { browserName } from './sessions.tsx';
import { CodesDialog } from './two-factor.tsx';

const passkeysQuery = operationQuery('listPasskeys', {});
type Passkey = Answer<'listPasskeys'>['passkeys'][number];

export function Passkeys({ onAdd }: { readonly onAdd: () => void }) {
  const query = useQuery(passkeysQuery);
  const { passkeyHost } = useSession().features;
  const refusal =
    passkeyHost === null || !knowsPasskeys()
      ? passkeyHost === null
        ? t`Passkeys work in browsers that know them, where the operator has set the address of the portal`
        : t`Passkeys work in browsers that know them, at ${passkeyHost}`
      : undefined;
  return (
    <Card
      flush
      title={t`Passkeys`}
      description={t`Sign in with your fingerprint, face or device PIN, without password and code.`}
      actions={
        <Button size="s" disabledReason={refusal} onClick={onAdd}>
          {t`Add passkey`}
        </Button>
      }
    >
      <Table
        query={query}
        label={t`Passkeys`}
        columns={columns()}
        rows={query.data?.passkeys}
        rowKey={(passkey) => passkey.id}
        skeletonRows={1}
        emptyState={<Empty title={t`No passkeys yet`} />}
      />
    </Card>
  );
}

const columns = onFirstUse((): readonly Column<Passkey>[] => [
  { header: t`Name`, phone: 'title', grow: true, cell: ({ name }) => <Cut strong text={name} /> },
  timeColumn(t`Added`, ({ createdUtc }) => createdUtc, { phone: 'named-time' }),
  timeColumn(t`Last used`, ({ lastUsedUtc }) => lastUsedUtc, { phone: 'named-time' }),
  actionsColumn('detail', (passkey) => <RemovePasskey passkey={passkey} />),
]);

const changed = [passkeysQuery.queryKey, sessionQuery.queryKey, sessionsQuery.queryKey];

function RemovePasskey({ passkey: { id, name } }: { readonly passkey: Passkey }) {
  const [asking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => call('removePasskey', { params: { id } }),
    meta: { invalidates: changed },
    onSuccess: () => {
      toast(t`Passkey removed`);
      setAsking(false);
    },
  });
  return (
    <>
      <Button size="s" aria-label={t`Remove passkey ${name}`} onClick={() => setAsking(true)}>
        {t`Remove`}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Remove this passkey?`}
        confirm={t`Remove passkey`}
        danger
        mutation={remove}
      >
        {t`“${name}” no longer signs you in, and your other sessions end. Delete it on your device, too.`}
      </ConfirmDialog>
    </>
  );
}

export function AddPasskey({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const queryClient = useQueryClient();
  if (codes) {
    const done = async (): Promise<void> => {
      setCodes(null);
      await Promise.all(changed.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
      onClose();
    };
    return <CodesDialog title={t`Passkey added`} codes={codes} onClose={() => void done()} />;
  }
  return (
    <Dialog open={open} onClose={onClose} title={t`Add a passkey`} size="s">
      {open && <NamePasskey onClose={onClose} onCodes={setCodes} />}
    </Dialog>
  );
}

interface NamePasskeyProps {
  readonly onClose: () => void;
  readonly onCodes: (codes: readonly string[]) => void;
}

function NamePasskey({ onClose, onCodes }: NamePasskeyProps) {
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  const queryClient = useQueryClient();
  const add = useMutation({
    mutationFn: () => createPasskey(name),
    gcTime: 0,
    onSuccess: async ({ recoveryCodes }) => {
      if (recoveryCodes.length > 0) return onCodes(recoveryCodes);
      await Promise.all(changed.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
      toast(t`Passkey added`);
      onClose();
    },
  });
  return (
    <Form mutation={add} fields={['name']} submit={t`Add passkey`} onCancel={onClose}>
      <Field
        label={t`Name`}
        hint={t`For you, to know the device or the password manager by. Your other sessions end.`}
        error={fieldError(add.error, 'name')}
      >
        <TextInput value={name} onValue={setName} />
      </Field>
    </Form>
  );
}
