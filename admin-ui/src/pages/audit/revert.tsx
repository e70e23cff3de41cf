import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Input, useMutation } from '../../api/client.ts';
import { useRefusal } from '../../app/session.ts';
import { ApiError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Stack } from '../../ui/layout.tsx';
import { Loaded, Notice, SkeletonLines } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { keyQuery, keysQuery, subscriptionQuery, subscriptionsQuery } from '../queries.ts';
import { Changes } from './activity.tsx';
import type { Entry } from './words.ts';

type Values = Readonly<Record<string, unknown>>;

/** Never a secret, a revocation or a role. What a subscription receives, and how it and a key are called. */
const fieldsOf: Readonly<Partial<Record<Entry['action'], readonly string[]>>> = {
  'subscription.changed': ['name', 'description', 'url', 'eventTypes'],
  'key.changed': ['name', 'note', 'scopes'],
};

/** The former values that may come back; permissions only if that leaves the key with fewer. */
const revertible = ({ action, before, after }: Entry): readonly string[] =>
  (fieldsOf[action] ?? []).filter((name) => {
    if (before === null || after === null || !(name in before) || !(name in after)) return false;
    const now = after[name];
    return name !== 'scopes' || (before[name] as string[]).every((one) => (now as string[]).includes(one));
  });

const pick = (values: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
const isSame = (a: Values, b: Values): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Of a change that its page could undo by hand. */
export function Revert({ entry }: { readonly entry: Entry }) {
  const [open, setOpen] = useState(false);
  const refusal = useRefusal('developer');
  if (revertible(entry).length === 0) return null;
  const { name } = entry.target;
  return (
    <>
      <Button
        size="s"
        disabledReason={refusal}
        aria-label={t`Revert the change of ${name}`}
        onClick={() => setOpen(true)}
      >
        <Trans>Revert…</Trans>
      </Button>
      {open && <RevertDialog entry={entry} onClose={() => setOpen(false)} />}
    </>
  );
}

function RevertDialog({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const names = revertible(entry);
  const [before, after] = [pick(entry.before ?? {}, names), pick(entry.after ?? {}, names)];
  const id = Number(entry.target.id);
  const ofKey = entry.target.kind === 'key';
  const queryClient = useQueryClient();
  const key = useQuery({ ...keyQuery(id), enabled: ofKey, staleTime: 0 });
  const subscription = useQuery({ ...subscriptionQuery(id), enabled: !ofKey, staleTime: 0 });
  const revert = useMutation({
    mutationFn: async () => {
      if (!ofKey) {
        const body = { ...before, basedOn: after } as Input<'updatePortalSubscription'>['body'];
        return call('updatePortalSubscription', { params: { id }, body });
      }
      const { data } = await key.refetch();
      if (!data || !isSame(pick(data as unknown as Values, names), after))
        throw new ApiError({ status: 409, message: t`The key was changed meanwhile` });
      return call('updateApiKey', { params: { id }, body: before });
    },
    meta: { invalidates: [['listAudit'], keysQuery.queryKey, subscriptionsQuery.queryKey] },
    onSuccess: () => {
      if (!ofKey) void queryClient.invalidateQueries({ queryKey: subscriptionQuery(id).queryKey });
      toast(t`Change reverted`);
      onClose();
    },
  });
  const query = (ofKey ? key : subscription) as UseQueryResult<object | null>;
  const present = query.data && pick(query.data as unknown as Values, names);
  if (present && isSame(present, after))
    return (
      <ConfirmDialog
        open
        onClose={onClose}
        title={t`Revert this change?`}
        confirm={t`Revert change`}
        mutation={revert}
      >
        <Stack>
          <p>
            <Trans>The values before the change come back at once:</Trans>
          </p>
          <Changes before={after} after={before} />
        </Stack>
      </ConfirmDialog>
    );
  return (
    <Dialog open onClose={onClose} title={t`This change cannot be reverted`} size="s">
      <Loaded query={query} skeleton={<SkeletonLines lines={4} />}>
        {() => (
          <Stack>
            <Notice tone="warn">
              {present
                ? t`The values were changed again since. Edit them on their page:`
                : t`It no longer exists.`}
            </Notice>
            {present && <Changes before={before} after={present} />}
          </Stack>
        )}
      </Loaded>
    </Dialog>
  );
}
