import { useState } from 'react';
import { type Answer, call, useMutation } from '../../api/client.ts';
import { useBaseUrl, useSession } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { CodeBlock } from '../../ui/code.tsx';
import { Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { Checkbox, Field, Fieldset, Form, TextInput } from '../../ui/form.tsx';
import { Badge } from '../../ui/values.tsx';
import { type KeyPresetName, keysQuery } from '../queries.ts';
import { keyPresets, type Scope, sampleCall, scopeWords } from './scopes.ts';

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
  const { scopes } = useSession();
  const filled = preset === undefined ? undefined : keyPresets[preset];
  const [name, setName] = useState(filled?.name ?? '');
  const [chosen, setChosen] = useState<readonly Scope[]>(filled?.scopes ?? []);
  const create = useMutation({
    mutationFn: () => call('createApiKey', { body: { name, scopes: [...chosen] } }),
    gcTime: 0,
    meta: { invalidates: [keysQuery.queryKey] },
    onSuccess: onMade,
  });
  const toggle = (scope: Scope, on: boolean): void =>
    setChosen(on ? [...chosen, scope] : chosen.filter((one) => one !== scope));
  return (
    <Form mutation={create} fields={['name', 'scopes']} submit="Create key" onCancel={onClose}>
      <Field
        label="Name"
        hint="What it is for, such as “Zapier” or “Website form”."
        error={fieldError(create.error, 'name')}
      >
        <TextInput value={name} maxLength={100} onValue={setName} />
      </Field>
      <Fieldset
        legend="What it may do"
        error={
          create.error && chosen.length === 0
            ? 'Choose at least one permission.'
            : fieldError(create.error, 'scopes')
        }
      >
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            checked={chosen.includes(scope)}
            onChange={(event) => toggle(scope, event.target.checked)}
            label={
              <>
                {scopeWords[scope].label} <Badge mono>{scope}</Badge>
              </>
            }
            description={scopeWords[scope].description}
          />
        ))}
      </Fieldset>
    </Form>
  );
}
