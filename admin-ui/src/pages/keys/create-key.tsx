import { useState } from 'react';
import { type Answer, call, useMutation } from '../../model/client.ts';
import type { KeyPresetName } from '../../model/queries.ts';
import { sampleCall } from '../../model/scopes.ts';
import { useBaseUrl } from '../../model/session.ts';
import { CodeBlock } from '../../ui/code.tsx';
import { Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { type KeyChange, KeyForm } from './key-form.tsx';

interface CreateKeyProps {
  readonly open: boolean;
  readonly preset: KeyPresetName | undefined;
  readonly onClose: () => void;
}

/** Only the state of this component holds the key's value. */
export function CreateKey({ open, preset, onClose }: CreateKeyProps) {
  const [made, setMade] = useState<MadeKey | null>(null);
  const baseUrl = useBaseUrl();
  if (made !== null) {
    return (
      <SecretDialog title="Your new API key" name="API key" value={made.value} onClose={() => setMade(null)}>
        {(onCopied) => (
          <CodeBlock
            label="command"
            title="Try it in a terminal"
            language="code"
            wrap
            code={sampleCall(baseUrl, made.value, made.scopes)}
            onCopied={onCopied}
          />
        )}
      </SecretDialog>
    );
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Create an API key"
      description="Create one key for each tool, with only the permissions it needs."
    >
      <CreateForm
        preset={preset}
        onClose={onClose}
        onMade={(key) => {
          setMade(key);
          onClose();
        }}
      />
    </Dialog>
  );
}

type MadeKey = Answer<'createApiKey'>;

interface CreateFormProps {
  readonly preset: KeyPresetName | undefined;
  readonly onClose: () => void;
  readonly onMade: (key: MadeKey) => void;
}

function CreateForm({ preset, onClose, onMade }: CreateFormProps) {
  const form = `keys/new/${preset ?? ''}`;
  const create = useMutation({
    mutationFn: (body: KeyChange) => call('createApiKey', { body }),
    gcTime: 0,
    meta: { saves: form },
    onSuccess: onMade,
  });
  return <KeyForm form={form} preset={preset} mutation={create} submit="Create key" onCancel={onClose} />;
}
