import { plural, t } from '@lingui/core/macro';
import { call, useMutation } from '../../api/client.ts';
import { sessionQuery, useRefusal, useSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Card } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.ts';
import { hasFactor } from './list-members.ts';
import type { Member } from './member-table.tsx';

interface SecondFactorProps {
  readonly members: readonly Member[];
  readonly asking: boolean;
  readonly onAsk: () => void;
  readonly onClose: () => void;
}

export function SecondFactor({ members, asking, onAsk, onClose }: SecondFactorProps) {
  const { company } = useSession();
  const refusal = useRefusal('admin');
  const required = company.secondFactorRequired;
  const without = members.filter((member) => !hasFactor(member)).length;
  const you = members.find((member) => member.you);
  const all = plural({ count: members.length }, { one: '# member', other: '# members' });
  const own = !required && you && !hasFactor(you);
  const change = useMutation({
    mutationFn: () => call('requireSecondFactor', { body: { required: !required } }),
    meta: { invalidates: [sessionQuery.queryKey] },
    onSuccess: () => {
      toast(required ? t`The second factor is optional` : t`The second factor is required`);
      onClose();
    },
  });
  return (
    <>
      <Card
        title={required ? t`A second factor is required` : t`Second factor`}
        description={
          without === 0
            ? t`Everyone has one.`
            : required
              ? plural(without, {
                  one: `# of ${all} has no second factor yet, and can do nothing before setting one up.`,
                  other: `# of ${all} have no second factor yet, and can do nothing before they set one up.`,
                })
              : plural(without, {
                  one: `# of ${all} has no second factor: the password alone signs in.`,
                  other: `# of ${all} have no second factor: their password alone signs in.`,
                })
        }
        actions={
          <Button
            size="s"
            disabledReason={
              refusal ?? (own ? t`Set up your own second factor under Your security first` : undefined)
            }
            onClick={onAsk}
          >
            {required ? t`Make it optional…` : t`Require it…`}
          </Button>
        }
      />
      <ConfirmDialog
        open={asking && refusal === undefined && !own}
        onClose={onClose}
        title={required ? t`Make the second factor optional?` : t`Require a second factor?`}
        confirm={required ? t`Make it optional` : t`Require it`}
        danger={required}
        mutation={change}
      >
        {required
          ? t`Members may then remove theirs, and sign in with a password alone.`
          : without === 0
            ? t`Everyone has one. New members set one up when they join. API keys keep working.`
            : plural(without, {
                one: '# member without one is led to set one up at the next click, and can do nothing else before. API keys keep working.',
                other:
                  '# members without one are led to set one up at the next click, and can do nothing else before. API keys keep working.',
              })}
      </ConfirmDialog>
    </>
  );
}
