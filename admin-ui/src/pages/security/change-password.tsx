import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { NewPasswordField } from '../../app/new-password-field.tsx';
import { useSession } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, PasswordInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { toast } from '../../ui/toast.ts';
import { sessionsQuery } from './queries.ts';

export function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const { email } = useSession().user;
  const change = useMutation({
    mutationFn: () => call('changePassword', { body: { currentPassword, newPassword } }),
    meta: { invalidates: [sessionsQuery.queryKey] },
    onSuccess: () => {
      toast('Password changed');
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} title="Change password" size="s">
      <Form
        mutation={change}
        fields={['currentPassword', 'newPassword']}
        submit="Change password"
        secondary={<Button onClick={onClose}>Cancel</Button>}
      >
        <Field label="Current password" error={fieldError(change.error, 'currentPassword')}>
          <PasswordInput
            autoComplete="current-password"
            value={currentPassword}
            onChange={(event) => setCurrent(event.target.value)}
          />
        </Field>
        <NewPasswordField
          label="New password"
          email={email}
          value={newPassword}
          onChange={setNew}
          error={fieldError(change.error, 'newPassword')}
        />
      </Form>
    </Dialog>
  );
}
