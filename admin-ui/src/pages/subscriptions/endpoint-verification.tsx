import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { operationQuery } from '../../api/query.ts';
import { useRefusal } from '../../app/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { toast, toastError } from '../../ui/toast.ts';

const settingsQuery = operationQuery('getSubscriptionSettings', {});

/** The company's setting, which admins change. */
export function EndpointVerification() {
  const { data } = useQuery(settingsQuery);
  const queryClient = useQueryClient();
  const refusal = useRefusal('admin');
  const change = useMutation({
    mutationFn: (verifyEndpoints: boolean) =>
      call('updateSubscriptionSettings', { body: { verifyEndpoints } }),
    meta: { invalidates: [['listPortalSubscriptions'], ['getPortalSubscription']] },
    onSuccess: (settings) => {
      queryClient.setQueryData(settingsQuery.queryKey, settings);
      toast(`Endpoint verification turned ${settings.verifyEndpoints ? 'on' : 'off'}`);
    },
    onError: toastError,
  });
  if (!data) return null;
  const { verifyEndpoints } = data;
  return (
    <Card
      title="Endpoint verification"
      description="When it is on, a new subscription, or one with a new URL, gets deliveries only after its receiver has echoed a signed challenge. Existing subscriptions are not affected."
      actions={
        <Button
          size="s"
          disabledReason={refusal}
          pending={change.isPending}
          onClick={() => change.mutate(!verifyEndpoints)}
        >
          {verifyEndpoints ? 'Turn off verification' : 'Turn on verification'}
        </Button>
      }
    >
      <Badge tone={verifyEndpoints ? 'good' : 'neutral'} dot>
        {verifyEndpoints ? 'On' : 'Off'}
      </Badge>
    </Card>
  );
}
