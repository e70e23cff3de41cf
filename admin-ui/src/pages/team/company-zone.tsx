import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useMutation } from '../../model/client.ts';
import { sessionQuery, useRefusal, useSession } from '../../model/session.ts';
import { Field, Form, Select } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.ts';
import { setCompanyZone } from '../../ui/zone.ts';

/** The zone in which members can see times, whatever their own is. */
export function CompanyZone() {
  const { company } = useSession();
  const [timeZone, setTimeZone] = useState(company.timeZone);
  const refusal = useRefusal('admin');
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: () => call('setTimeZone', { body: { timeZone } }),
    onSuccess: () => {
      setCompanyZone(timeZone);
      toast('Time zone saved');
      return queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  const zones = [...new Set(['UTC', company.timeZone, ...Intl.supportedValuesOf('timeZone')])];
  return (
    <Card
      title="Time zone of the company"
      description="Members can see times in it: they choose in the account menu."
    >
      <Form mutation={save} fields={['timeZone']} submit="Save time zone" submitDisabledReason={refusal}>
        <Field label="Time zone">
          <Select
            value={timeZone}
            options={zones.map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
            onValue={setTimeZone}
          />
        </Field>
      </Form>
    </Card>
  );
}
