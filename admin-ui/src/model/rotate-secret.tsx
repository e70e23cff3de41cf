import { type ReactNode, useState } from 'react';
import { type DialogTexts, SecretFlow } from '../ui/dialog.tsx';
import { Field, Fieldset, Form, Radio, Select } from '../ui/form.tsx';
import { span } from '../ui/format.ts';
import { Notice } from '../ui/states.tsx';

interface RotateSecretProps extends DialogTexts, RotateFormProps {
  readonly secret: { readonly title: string; readonly name: string };
}

interface RotateFormProps {
  readonly legend: string;
  readonly keeps: string;
  readonly ends: string;
  readonly hoursLabel: string;
  readonly hours: readonly number[];
  /** False unless a rotation has not ended: then the earlier secrets can only end. */
  readonly running: ReactNode;
  readonly submit: string;
  /** @returns the new secret. @param hours for how long the present one works beside it */
  readonly rotate: (hours: number) => Promise<string>;
  readonly onClose: () => void;
}

/** A new secret for an API key or a subscription. */
export function RotateSecret({ open, title, description, secret, ...form }: RotateSecretProps) {
  return (
    <SecretFlow
      {...{ open, title, description }}
      onClose={form.onClose}
      form={(onMade) => <RotateForm {...form} onMade={onMade} />}
      secret={(value: string) => ({ ...secret, value })}
    />
  );
}

function RotateForm(props: RotateFormProps & { readonly onMade: (secret: string) => void }) {
  const { running, submit, rotate, onClose, onMade } = props;
  const isRunning = running !== false;
  const [keeps, setKeeps] = useState(!isRunning);
  const [hours, setHours] = useState(24);
  return (
    <Form
      act={() => rotate(keeps ? hours : 0)}
      onDone={onMade}
      submit={submit}
      danger={!keeps}
      onCancel={onClose}
    >
      {isRunning && <Notice tone="info">{running}</Notice>}
      <Fieldset legend={props.legend}>
        {!isRunning && (
          <Radio
            name="rotation"
            checked={keeps}
            onChange={() => setKeeps(true)}
            label="Keeps working for a while"
            description={props.keeps}
          />
        )}
        <Radio
          name="rotation"
          checked={!keeps}
          onChange={() => setKeeps(false)}
          label="Stops working at once"
          description={props.ends}
        />
      </Fieldset>
      {keeps && (
        <Field label={props.hoursLabel}>
          <Select
            value={hours}
            options={props.hours.map((value) => ({ value, label: span(value * 3_600_000) }))}
            onValue={(value) => setHours(Number(value))}
          />
        </Field>
      )}
    </Form>
  );
}
