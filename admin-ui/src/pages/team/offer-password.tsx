import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { nameOfMember } from '../../app/name-of-member.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { Moment } from '../../ui/time-ago.tsx';
import type { Member } from './member-table.tsx';

interface OfferPasswordProps {
  readonly member: Member | undefined;
  readonly onClose: () => void;
}

/** Creates a password reset link for a member who forgot their password. */
export function OfferPassword({ member, onClose }: OfferPasswordProps) {
  const [link, setLink] = useState<{ readonly url: string; readonly expiresUtc: string } | null>(null);
  const offer = useMutation({
    mutationFn: (id: number) => call('offerPasswordReset', { params: { id } }),
    gcTime: 0,
    onSuccess: (answer) => {
      setLink({ url: `${location.origin}${answer.link}`, expiresUtc: answer.expiresUtc });
      onClose();
    },
  });
  if (link !== null) {
    return (
      <SecretDialog title="Password reset link" name="link" value={link.url} onClose={() => setLink(null)}>
        <p>
          Send this link to the person privately: anyone who opens it can choose the password. It works once,
          until <Moment time={link.expiresUtc} />.
        </p>
      </SecretDialog>
    );
  }
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Reset the password of ${nameOfMember(member)}?`}
      confirm="Create reset link"
      mutation={offer}
      onSubmit={() => offer.mutate(member.id)}
    >
      <p>
        You get a link to send to them. When they use it, their sessions in this company end and they sign in
        with the new password{member.totpEnabled && ' and a code from their app'}. Their current password
        works until then.
      </p>
    </ConfirmDialog>
  );
}
