import { useState } from 'react';
import { useMutation } from '../../../api/mutation.ts';
import { Card } from '../../../ui/card.tsx';
import { Field, PasswordInput, TextArea } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Grid, Stack } from '../../../ui/layout.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Empty } from '../../../ui/states.tsx';
import { diagnose } from './diagnose.ts';

/** Checks a signature in the browser, without sending anything. */
export function SignatureChecker() {
  const [secret, setSecret] = useState('');
  const [headers, setHeaders] = useState('');
  const [body, setBody] = useState('');
  const check = useMutation({
    mutationFn: () => diagnose({ secret, headers, body, now: Date.now() }),
    gcTime: 0,
  });
  if (!globalThis.crypto?.subtle)
    return <Notice tone="warn">This works only over https or on localhost.</Notice>;
  return (
    <Grid min={24}>
      <Card
        title="A delivery as your receiver got it"
        description="Runs in this browser: nothing you paste is sent or stored."
      >
        <Form mutation={check} submit="Check signature">
          <Field label="Signing secret" hint="Whole, with whsec_.">
            <PasswordInput
              autoComplete="off"
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
            />
          </Field>
          <Field label="Headers" hint="One per line. Those starting with X-Webhook- or webhook- are enough.">
            <TextArea
              mono
              rows={5}
              spellCheck={false}
              placeholder={'X-Webhook-Timestamp: 1768469400\nX-Webhook-Signature: sha256=…'}
              value={headers}
              onChange={(event) => setHeaders(event.target.value)}
            />
          </Field>
          <Field label="Body" hint="The raw bytes, exactly as received.">
            <TextArea
              mono
              rows={7}
              spellCheck={false}
              placeholder={'{"id":90071,"type":"client.created",…}'}
              value={body}
              onChange={(event) => setBody(event.target.value)}
            />
          </Field>
        </Form>
      </Card>
      <Card title="Result">
        <div aria-live="polite">
          {check.data ? (
            <Stack gap="s">
              {check.data.map((finding) => (
                <Notice key={finding.title} tone={finding.tone} title={finding.title}>
                  {finding.advice}
                </Notice>
              ))}
            </Stack>
          ) : (
            <Empty title="Nothing checked yet">
              Paste the secret, the headers and the body of one delivery. What was sent is on the delivery’s
              page, under “Request as sent”; what arrived is in your receiver’s logs.
            </Empty>
          )}
        </div>
      </Card>
    </Grid>
  );
}
