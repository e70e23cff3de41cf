import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, operationQuery, useMutation } from '../../model/client.ts';
import { createPasskey, knowsPasskeys } from '../../model/passkeys.ts';
import { sessionsQuery } from '../../model/queries.ts';
import { sessionQuery, useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Cut } from '../../ui/values.tsx';
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
        ? 'Passkeys work in browsers that know them, where the operator has set the address of the portal'
        : `Passkeys work in browsers that know them, at ${passkeyHost}`
      : undefined;
  return (
    <Card
      flush
      title="Passkeys"
      description="Sign in with your fingerprint, face or device PIN, without password and code."
      actions={
        <Button size="s" disabledReason={refusal} onClick={onAdd}>
          Add passkey
        </Button>
      }
    >
      <Table
        query={query}
        label="Passkeys"
        columns={columns}
        rows={query.data?.passkeys}
        rowKey={(passkey) => passkey.id}
        skeletonRows={1}
        emptyState={<Empty title="No passkeys yet" />}
      />
    </Card>
  );
}

const columns: readonly Column<Passkey>[] = [
  { header: 'Name', phone: 'title', grow: true, cell: ({ name }) => <Cut strong text={name} /> },
  timeColumn('Added', ({ createdUtc }) => createdUtc, { phone: 'named-time' }),
  timeColumn('Last used', ({ lastUsedUtc }) => lastUsedUtc, { phone: 'named-time' }),
  actionsColumn('detail', (passkey) => <RemovePasskey passkey={passkey} />),
];

const changed = [passkeysQuery.queryKey, sessionQuery.queryKey, sessionsQuery.queryKey];

function RemovePasskey({ passkey: { id, name } }: { readonly passkey: Passkey }) {
  const [asking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => call('removePasskey', { params: { id } }),
    onSuccess: () => {
      toast('Passkey removed');
      setAsking(false);
    },
  });
  return (
    <>
      <Button size="s" aria-label={`Remove passkey ${name}`} onClick={() => setAsking(true)}>
        Remove
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Remove this passkey?"
        confirm="Remove passkey"
        danger
        mutation={remove}
      >
        “{name}” no longer signs you in, and your other sessions end. Delete it on your device, too.
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
    return <CodesDialog title="Passkey added" codes={codes} onClose={() => void done()} />;
  }
  return (
    <Dialog open={open} onClose={onClose} title="Add a passkey" size="s">
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
      toast('Passkey added');
      onClose();
    },
  });
  return (
    <Form mutation={add} fields={['name']} submit="Add passkey" onCancel={onClose}>
      <Field
        label="Name"
        hint="For you, to know the device or the password manager by. Your other sessions end."
        error={fieldError(add.error, 'name')}
      >
        <TextInput value={name} onValue={setName} />
      </Field>
    </Form>
  );
}
