import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { sessionQuery, useSession } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

export function ChangeName({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState(useSession().user.name);
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () => call('updateProfile', { body: { name } }),
    onSuccess: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session);
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} title="Change your name" size="s">
      <Form
        mutation={change}
        fields={['name']}
        submit="Save"
        secondary={<Button onClick={onClose}>Cancel</Button>}
      >
        <Field label="Name" error={fieldError(change.error, 'name')}>
          <TextInput autoComplete="name" value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
      </Form>
    </Dialog>
  );
}
