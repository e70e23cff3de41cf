import { useState } from 'react';
import { CodeBlock } from '../ui/code.tsx';
import { SecretFlow } from '../ui/dialog.tsx';
import { ApiError } from '../ui/errors.ts';
import { type Answer, call, useMutation } from './client.ts';
import { type KeyChange, KeyForm } from './key-form.tsx';
import type { KeyPresetName } from './queries.ts';
import { sampleCall } from './scopes.ts';
import { useBaseUrl } from './session.ts';

interface CreateKeyProps {
  readonly open: boolean;
  readonly preset: KeyPresetName | undefined;
  readonly onClose: () => void;
  /** For commands of the page, which keeps the value in memory only. */
  readonly onMade?: (value: string) => void;
}

export function CreateKey({ open, preset, onClose, onMade }: CreateKeyProps) {
  const baseUrl = useBaseUrl();
  return (
    <SecretFlow
      open={open}
      onClose={onClose}
      title="Create an API key"
      description="Create one key for each tool, with only the permissions it needs."
      form={(show: (key: MadeKey) => void) => (
        <CreateForm
          preset={preset}
          onClose={onClose}
          onMade={(key) => {
            show(key);
            onMade?.(key.value);
          }}
        />
      )}
      secret={({ value, scopes }) => ({
        ...{ title: 'Your new API key', name: 'API key', value },
        children: (onCopied) => (
          <CodeBlock
            label="command"
            title="Try it in a terminal"
            language="text"
            wrap
            code={sampleCall(baseUrl, value, scopes)}
            onCopied={onCopied}
          />
        ),
      })}
    />
  );
}

type MadeKey = Answer<'createApiKey'>;

interface CreateFormProps extends Pick<CreateKeyProps, 'preset' | 'onClose'> {
  readonly onMade: (key: MadeKey) => void;
}

function CreateForm({ preset, onClose, onMade }: CreateFormProps) {
  const form = `keys/new/${preset ?? ''}`;
  // How many keys of this name the person has confirmed: a further one is asked about.
  const [sameName, setSameName] = useState(0);
  const create = useMutation({
    mutationFn: (body: KeyChange) => call('createApiKey', { body: { ...body, basedOn: { sameName } } }),
    gcTime: 0,
    meta: { saves: form },
    onError: (error) => {
      if (error instanceof ApiError) setSameName(Number(error.extra.sameName ?? 0));
    },
    onSuccess: onMade,
  });
  return (
    <KeyForm
      form={form}
      preset={preset}
      mutation={create}
      submit={sameName > 0 ? 'Create another' : 'Create key'}
      onCancel={onClose}
    />
  );
}
