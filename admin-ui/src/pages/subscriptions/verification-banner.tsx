import { useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { errorText } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { plural } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TimeAgo } from '../../ui/time-ago.tsx';
import { toast } from '../../ui/toast.ts';
import { subscriptionQuery } from './queries.ts';
import { nameOf, type Subscription } from './state.ts';
import { useSubscriptionCache } from './use-subscription-cache.ts';

interface VerificationBannerProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
}

/** Explains endpoint verification, shows the last challenge's result, and sends another challenge. */
export function VerificationBanner({ subscription, refusal }: VerificationBannerProps) {
  const { id, health, verification } = subscription;
  const cache = useSubscriptionCache();
  const queryClient = useQueryClient();
  const send = useMutation({
    mutationFn: () => call('enablePortalSubscription', { params: { id } }),
    onSuccess: (changed) => {
      cache.changed(changed);
      toast(`“${nameOf(changed)}” is verified and enabled`);
    },
    onError: () => void queryClient.invalidateQueries({ queryKey: subscriptionQuery(id).queryKey }),
  });
  return (
    <Notice
      tone="warn"
      title="Waiting for verification"
      actions={
        <Button
          size="s"
          variant="primary"
          disabledReason={refusal}
          pending={send.isPending}
          onClick={() => send.mutate()}
        >
          Send challenge
        </Button>
      }
    >
      <Stack gap="s">
        <p>
          Your company requires endpoint verification. This subscription gets no deliveries until its receiver
          answers a POST of type <code>endpoint.verification</code> with status 200 and the challenge from its
          payload:
        </p>
        <CodeBlock language="json" label="answer" code={'{"challenge": "<payload.challenge>"}'} />
        {send.isError ? (
          <p role="alert">{errorText(send.error)}</p>
        ) : verification?.challengedUtc ? (
          <p>
            Last challenge (<TimeAgo time={verification.challengedUtc} />
            ): {verification.failure}
          </p>
        ) : (
          <p>No challenge has been answered yet.</p>
        )}
        {health.held > 0 && <p>{plural(health.held, 'delivery is', 'deliveries are')} held until then.</p>}
      </Stack>
    </Notice>
  );
}
