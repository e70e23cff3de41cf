import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, useMutation } from '../../model/client.ts';
import { keyUseQuery } from '../../model/queries.ts';
import type { ApiKey } from '../../model/scopes.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Fieldset, Form, Radio, Select } from '../../ui/form.tsx';
import { plural, span } from '../../ui/format.ts';
import { Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { Moment, TimeAgo } from '../../ui/values.tsx';

interface RotateKeyProps {
  readonly open: boolean;
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

/** Only the state of this component holds the new value. */
export function RotateKey({ open, apiKey, onClose }: RotateKeyProps) {
  const [value, setValue] = useState<string | null>(null);
  if (value !== null)
    return (
      <SecretDialog
        title="The key’s new secret"
        name="API key"
        value={value}
        onClose={() => setValue(null)}
      />
    );
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Rotate the API key"
      description="It gets a new secret, and keeps its name, permissions, limits and subscriptions."
    >
      <RotateForm
        apiKey={apiKey}
        onClose={onClose}
        onDone={(made) => {
          setValue(made.value);
          onClose();
        }}
      />
    </Dialog>
  );
}

const graces = [1, 24, 72, 168].map((hours) => ({ value: hours, label: span(hours * 3_600_000) }));

interface RotateFormProps extends Omit<RotateKeyProps, 'open'> {
  readonly onDone: (made: Answer<'rotateApiKey'>) => void;
}

function RotateForm({ apiKey, onClose, onDone }: RotateFormProps) {
  const isRotated = apiKey.previous != null;
  const [keeps, setKeeps] = useState(!isRotated);
  const [hours, setHours] = useState(24);
  const rotate = useMutation({
    mutationFn: () =>
      call('rotateApiKey', { params: { id: apiKey.id }, body: { graceHours: keeps ? hours : 0 } }),
    gcTime: 0,
    onSuccess: onDone,
  });
  return (
    <Form mutation={rotate} fields={['graceHours']} submit="Rotate key" danger={!keeps} onCancel={onClose}>
      {isRotated && (
        <Notice tone="info">
          The key was rotated already, and both secrets work. End one of them first, or end both now.
        </Notice>
      )}
      <Fieldset legend="The present secret">
        {!isRotated && (
          <Radio
            name="grace"
            checked={keeps}
            onChange={() => setKeeps(true)}
            label="Keeps working for a while"
            description="Both secrets work and share the key’s limits, so nothing fails while you update your tools."
          />
        )}
        <Radio
          name="grace"
          checked={!keeps}
          onChange={() => setKeeps(false)}
          label="Stops working at once"
          description="Tools fail until they have the new secret. If it leaked: choose 1 h, update your tools, then end the old one."
        />
      </Fieldset>
      {keeps && (
        <Field label="Both work for" error={fieldError(rotate.error, 'graceHours')}>
          <Select value={hours} options={graces} onValue={(value) => setHours(Number(value))} />
        </Field>
      )}
    </Form>
  );
}

interface RotationProps {
  readonly apiKey: ApiKey;
  readonly refusal: string | undefined;
}

/** Of a key whose two secrets work. */
export function Rotation({ apiKey, refusal }: RotationProps) {
  const [keep, setKeep] = useState<'new' | 'old' | null>(null);
  const { id, masked, previous } = apiKey;
  const { data: use } = useQuery({ ...keyUseQuery(id), enabled: refusal === undefined && previous != null });
  const end = useMutation({
    mutationFn: (kept: 'new' | 'old') => call('endKeyRotation', { params: { id }, body: { keep: kept } }),
    onSuccess: () => {
      toast('Rotation ended');
      setKeep(null);
    },
  });
  if (previous == null) return null;
  const ended = keep === 'old' ? masked : previous.masked;
  return (
    <Notice tone="info" title="Two secrets of this key work">
      <Stack gap="s">
        <p>
          The old one, <code>{previous.masked}</code>, works until <Moment time={previous.untilUtc} />. The
          new one is <code>{masked}</code>.
        </p>
        {use !== undefined && (
          <p>
            {use.previous === null ? (
              'The old one was not used in the last seven days.'
            ) : (
              <>
                The old one was last used <TimeAgo time={use.previous.utc} /> from{' '}
                <code>{use.previous.address}</code>;{' '}
                {plural(use.previousInLastHour, '# request', '# requests')} in the last hour.
              </>
            )}
          </p>
        )}
        <Row gap="s">
          <Button disabledReason={refusal} onClick={() => setKeep('new')}>
            End the old secret…
          </Button>
          <Button disabledReason={refusal} onClick={() => setKeep('old')}>
            Keep the old secret…
          </Button>
        </Row>
        {keep !== null && (
          <ConfirmDialog
            open
            onClose={() => setKeep(null)}
            title={keep === 'new' ? 'End the old secret now?' : 'Give up the new secret?'}
            confirm={keep === 'new' ? 'End old secret' : 'Keep old secret'}
            danger
            mutation={end}
            onSubmit={() => end.mutate(keep)}
          >
            <p>
              Requests with <code>{ended}</code> are refused at once, and this cannot be undone.
            </p>
            {keep === 'old' && <p>The old secret then works as before the rotation.</p>}
          </ConfirmDialog>
        )}
      </Stack>
    </Notice>
  );
}
