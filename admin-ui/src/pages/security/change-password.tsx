import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { fieldError } from '../../api/errors.ts';
import { useSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, PasswordInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { toast } from '../../ui/toast.tsx';
import { sessionsQuery } from './route.ts';

export function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const { email } = useSession().user;
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () => call('changePassword', { body: { currentPassword, newPassword } }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      toast('Your password is changed');
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} title="Change your password" size="s">
      <Form
        onSubmit={() => change.mutate()}
        pending={change.isPending}
        error={change.error}
        fields={['currentPassword', 'newPassword']}
        submit="Change password"
        secondary={<Button onClick={onClose}>Cancel</Button>}
      >
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <Field label="Your present password" error={fieldError(change.error, 'currentPassword')}>
          <PasswordInput
            autoComplete="current-password"
            value={currentPassword}
            onChange={(event) => setCurrent(event.target.value)}
          />
        </Field>
        <Field
          label="The new one"
          hint="At least 12 characters. A few words in a row are easier to remember than signs."
          error={fieldError(change.error, 'newPassword')}
        >
          <PasswordInput
            autoComplete="new-password"
            value={newPassword}
            onChange={(event) => setNew(event.target.value)}
          />
        </Field>
      </Form>
    </Dialog>
  );
}
