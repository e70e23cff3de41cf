import { ph, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ellipsis, LifeBuoy, Share2 } from 'lucide-react';
import { useState } from 'react';
import { type Answer, call, operationQuery, useMutation } from '../../api/client.ts';
import { useRefusal } from '../../app/session.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { Button, CopyButton, copyText, IconButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form, Select } from '../../ui/form.tsx';
import { Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { TimeAgo } from '../../ui/values.tsx';
import { attemptQuery, deliveryParams } from './deliveries.ts';
import { toMarkdown } from './support-text.ts';

type Delivery = Answer<'getDelivery'>;
const route = '/in/deliveries/$event/$subscription/$replay';
const sharesQuery = operationQuery('listDeliveryShares', {});

/** What helps the receiver's support: a link, or a text. */
export function ShareActions({
  delivery,
  attempt,
}: {
  readonly delivery: Delivery;
  readonly attempt: number | undefined;
}) {
  const name = useParams({ from: route });
  const { dialog } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/deliveries/$event/$subscription/$replay' });
  const refusal = useRefusal('developer');
  const shown = useQuery({
    ...attemptQuery(name, attempt ?? 1, 'viewer'),
    enabled: attempt !== undefined,
  }).data;
  const copy = (): void =>
    void copyText(toMarkdown(delivery, shown)).then(() => toast(t`Copied for support`), toastError);
  return (
    <>
      <Menu
        trigger={<IconButton variant="secondary" label={t`More actions`} icon={<Ellipsis />} />}
        actions={[
          { label: t`Copy for support`, icon: <LifeBuoy size={15} />, onSelect: copy },
          {
            label: t`Share delivery…`,
            icon: <Share2 size={15} />,
            disabledReason: refusal,
            onSelect: () => void navigate({ search: { attempt, dialog: 'share' } }),
          },
        ]}
      />
      {dialog === 'share' && refusal === undefined && (
        <ShareDialog id={delivery.id} onClose={() => void navigate({ search: { attempt }, replace: true })} />
      )}
    </>
  );
}

const lifetimes = onFirstUse(() => [
  { value: 1, label: t`1 hour` },
  { value: 24, label: t`1 day` },
  { value: 72, label: t`3 days` },
  { value: 168, label: t`7 days` },
]);

function ShareDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const name = useParams({ from: route });
  const [hours, setHours] = useState(24);
  const share = useMutation({
    mutationFn: () => call('shareDelivery', { params: deliveryParams(name), body: { hours } }),
    meta: { invalidates: [['listDeliveryShares']] },
  });
  const link = share.data && `${location.origin}/portal/shared#${share.data.token}`;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t`Share delivery`}
      description={t`Anyone with the link sees this one delivery and its attempts, without signing in. Personal data is masked, as for viewers.`}
      keep={link !== undefined}
    >
      {link === undefined ? (
        <Form mutation={share} submit={t`Create link`} onCancel={onClose}>
          <Field label={t`Works for`}>
            <Select value={hours} options={lifetimes()} onValue={(value) => setHours(Number(value))} />
          </Field>
          <Shares id={id} />
        </Form>
      ) : (
        <Stack>
          <Notice tone="info">{t`The link is shown only now. Revoke it here at any time.`}</Notice>
          <CodeBlock code={link} language="text" label={t`link`} title={t`Link`} wrap />
          <Row justify="flex-end">
            <CopyButton value={link} label={t`Copy link`} variant="primary" size="m">
              {t`Copy link`}
            </CopyButton>
            <Button onClick={onClose}>{t`Done`}</Button>
          </Row>
        </Stack>
      )}
    </Dialog>
  );
}

function Shares({ id }: { readonly id: string }) {
  const shares = useQuery(sharesQuery).data?.shares.filter(({ deliveryId }) => deliveryId === id) ?? [];
  const revoke = useMutation({
    mutationFn: (share: number) => call('revokeDeliveryShare', { params: { id: share } }),
    meta: { invalidates: [['listDeliveryShares']] },
    onSuccess: () => toast(t`Link revoked`),
    onError: toastError,
  });
  if (shares.length === 0) return null;
  return (
    <Stack gap="s">
      <strong>{t`Links that work`}</strong>
      {shares.map((share) => (
        <Row key={share.id} justify="space-between" nowrap>
          <span>
            <Trans>
              <bdi>{ph({ member: share.createdBy })}</bdi>, ends <TimeAgo time={share.expiresUtc} />
            </Trans>
            <br />
            <Quiet small>
              {share.opened === 0
                ? t`Never opened`
                : t`Opened ${plural({ times: share.opened }, { one: '# time', other: '# times' })}`}
              {share.lastOpenedUtc !== null && (
                <Trans>
                  , last <TimeAgo time={share.lastOpenedUtc} />
                </Trans>
              )}
            </Quiet>
          </span>
          <Button size="s" pending={revoke.isPending} onClick={() => revoke.mutate(share.id)}>
            {t`Revoke link`}
          </Button>
        </Row>
      ))}
    </Stack>
  );
}
