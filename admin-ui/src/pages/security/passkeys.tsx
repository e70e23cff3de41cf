import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call } from '../../model/client.ts';
import { createPasskey, knowsPasskeys } from '../../model/passkeys.ts';
import { passkeysQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { DialogButton, type Shown, useDialog } from '../../ui/dialog-button.tsx';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Cut } from '../../ui/values.tsx';
import { browserName } from './sessions.tsx';
import { CodesFlow } from './two-factor.tsx';

type Passkey = Answer<'listPasskeys'>['passkeys'][number];

export function Passkeys() {
  const query = useQuery(passkeysQuery);
  const { dialog, open, close } = useDialog();
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
        <Button size="s" disabledReason={refusal} onClick={() => open('passkey')}>
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
        emptyState={<Empty title="No passkeys yet" />}
      />
      <AddPasskey open={dialog === 'passkey'} onClose={close} />
    </Card>
  );
}

const columns: readonly Column<Passkey>[] = [
  { header: 'Name', phone: 'title', grow: true, cell: ({ name }) => <Cut strong text={name} /> },
  timeColumn('Added', ({ createdUtc }) => createdUtc, { phone: 'named-time' }),
  timeColumn('Last used', ({ lastUsedUtc }) => lastUsedUtc, { phone: 'named-time' }),
  actionsColumn('detail', (passkey) => <RemovePasskey passkey={passkey} />),
];

const RemovePasskey = ({ passkey: { id, name } }: { readonly passkey: Passkey }) => (
  <DialogButton
    size="s"
    aria-label={`Remove passkey ${name}`}
    dialog={(shown) => (
      <ConfirmDialog
        {...shown}
        title="Remove this passkey?"
        confirm="Remove passkey"
        danger
        act={() => call('removePasskey', { params: { id } })}
        done="Passkey removed"
      >
        “{name}” no longer signs you in, and your other sessions end. Delete it on your device, too.
      </ConfirmDialog>
    )}
  >
    Remove
  </DialogButton>
);

export const AddPasskey = (props: Shown) => (
  <CodesFlow
    {...props}
    title="Add a passkey"
    codesTitle="Passkey added"
    form={(onMade) => <NamePasskey onClose={props.onClose} onCodes={onMade} />}
  />
);

type Made = Answer<'addPasskey'>;

function NamePasskey({ onClose, onCodes }: { onClose: () => void; onCodes: (made: Made) => void }) {
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  const added = async (made: Made): Promise<void> => {
    if (made.recoveryCodes.length > 0) return onCodes(made);
    await queryClient.invalidateQueries();
    toast('Passkey added');
    onClose();
  };
  return (
    <Form act={() => createPasskey(name)} onDone={added} submit="Add passkey" onCancel={onClose}>
      <Field
        label="Name"
        name="name"
        hint="For you, to know the device or the password manager by. Your other sessions end."
      >
        <TextInput value={name} onValue={setName} />
      </Field>
    </Form>
  );
}
