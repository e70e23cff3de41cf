import { call, useMutation } from '../../model/client.ts';
import { hasFactor } from '../../model/members.ts';
import { useRefusal, useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { plural } from '../../ui/format.ts';
import { Card } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.ts';
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
  const all = plural(members.length, '# member', '# members');
  const own = !required && you && !hasFactor(you);
  const change = useMutation({
    mutationFn: () => call('requireSecondFactor', { body: { required: !required } }),
    onSuccess: () => {
      toast(required ? 'The second factor is optional' : 'The second factor is required');
      onClose();
    },
  });
  return (
    <>
      <Card
        title={required ? 'A second factor is required' : 'Second factor'}
        description={
          without === 0
            ? 'Everyone has one.'
            : required
              ? plural(
                  without,
                  `# of ${all} has no second factor yet, and can do nothing before setting one up.`,
                  `# of ${all} have no second factor yet, and can do nothing before they set one up.`,
                )
              : plural(
                  without,
                  `# of ${all} has no second factor: the password alone signs in.`,
                  `# of ${all} have no second factor: their password alone signs in.`,
                )
        }
        actions={
          <Button
            size="s"
            disabledReason={
              refusal ?? (own ? 'Set up your own second factor under Your security first' : undefined)
            }
            onClick={onAsk}
          >
            {required ? 'Make it optional…' : 'Require it…'}
          </Button>
        }
      />
      <ConfirmDialog
        open={asking && refusal === undefined && !own}
        onClose={onClose}
        title={required ? 'Make the second factor optional?' : 'Require a second factor?'}
        confirm={required ? 'Make it optional' : 'Require it'}
        danger={required}
        mutation={change}
      >
        {required
          ? 'Members may then remove theirs, and sign in with a password alone.'
          : without === 0
            ? 'Everyone has one. New members set one up when they join. API keys keep working.'
            : plural(
                without,
                '# member without one is led to set one up at the next click, and can do nothing else before. API keys keep working.',
                '# members without one are led to set one up at the next click, and can do nothing else before. API keys keep working.',
              )}
      </ConfirmDialog>
    </>
  );
}
