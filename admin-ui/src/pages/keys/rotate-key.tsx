import { ph, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, useMutation } from '../../api/client.ts';
import { fieldError } from '../../errors.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { Field, Fieldset, Form, Radio, Select } from '../../ui/form.tsx';
import { span } from '../../ui/format.ts';
import { Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { Moment, TimeAgo } from '../../ui/values.tsx';
import { keysQuery, keyUseQuery } from '../queries.ts';
import type { ApiKey } from './scopes.ts';

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
        title={t`The key’s new secret`}
        name={t`API key`}
        value={value}
        onClose={() => setValue(null)}
      />
    );
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={t`Rotate the API key`}
      description={t`It gets a new secret, and keeps its name, permissions, limits and subscriptions.`}
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

const graces = onFirstUse(() =>
  [1, 24, 72, 168].map((hours) => ({ value: hours, label: span(hours * 3_600_000) })),
);

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
    meta: { invalidates: [keysQuery.queryKey] },
    onSuccess: onDone,
  });
  return (
    <Form mutation={rotate} fields={['graceHours']} submit={t`Rotate key`} danger={!keeps} onCancel={onClose}>
      {isRotated && (
        <Notice tone="info">
          {t`The key was rotated already, and both secrets work. End one of them first, or end both now.`}
        </Notice>
      )}
      <Fieldset legend={t`The present secret`}>
        {!isRotated && (
          <Radio
            name="grace"
            checked={keeps}
            onChange={() => setKeeps(true)}
            label={t`Keeps working for a while`}
            description={t`Both secrets work and share the key’s limits, so nothing fails while you update your tools.`}
          />
        )}
        <Radio
          name="grace"
          checked={!keeps}
          onChange={() => setKeeps(false)}
          label={t`Stops working at once`}
          description={t`Choose this if it leaked. Tools are refused until they have the new secret.`}
        />
      </Fieldset>
      {keeps && (
        <Field label={t`Both work for`} error={fieldError(rotate.error, 'graceHours')}>
          <Select value={hours} options={graces()} onValue={(value) => setHours(Number(value))} />
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
    meta: { invalidates: [keysQuery.queryKey] },
    onSuccess: () => {
      toast(t`Rotation ended`);
      setKeep(null);
    },
  });
  if (previous == null) return null;
  const ended = keep === 'old' ? masked : previous.masked;
  return (
    <Notice tone="info" title={t`Two secrets of this key work`}>
      <Stack gap="s">
        <p>
          <Trans>
            The old one, <code>{ph({ previous: previous.masked })}</code>, works until{' '}
            <Moment time={previous.untilUtc} />. The new one is <code>{masked}</code>.
          </Trans>
        </p>
        {use !== undefined && (
          <p>
            {use.previous === null ? (
              t`The old one was not used in the last seven days.`
            ) : (
              <Trans>
                The old one was last used <TimeAgo time={use.previous.utc} /> from{' '}
                <code>{ph({ address: use.previous.address })}</code>;{' '}
                <Plural value={{ requests: use.previousInLastHour }} one="# request" other="# requests" /> in
                the last hour.
              </Trans>
            )}
          </p>
        )}
        <Row gap="s">
          <Button disabledReason={refusal} onClick={() => setKeep('new')}>
            {t`End the old secret…`}
          </Button>
          <Button disabledReason={refusal} onClick={() => setKeep('old')}>
            {t`Keep the old secret…`}
          </Button>
        </Row>
        {keep !== null && (
          <ConfirmDialog
            open
            onClose={() => setKeep(null)}
            title={keep === 'new' ? t`End the old secret now?` : t`Give up the new secret?`}
            confirm={keep === 'new' ? t`End old secret` : t`Keep old secret`}
            danger
            mutation={end}
            onSubmit={() => end.mutate(keep)}
          >
            <p>
              <Trans>
                Requests with <code>{ended}</code> are refused at once, and this cannot be undone.
              </Trans>
            </p>
            {keep === 'old' && <p>{t`The old secret then works as before the rotation.`}</p>}
          </ConfirmDialog>
        )}
      </Stack>
    </Notice>
  );
}
