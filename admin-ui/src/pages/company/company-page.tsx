import { useQuery } from '@tanstack/react-query';
import { call } from '../../model/client.ts';
import { hasFactor } from '../../model/members.ts';
import { subscriptionSettingsQuery, teamQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { useRefusal, useSession } from '../../model/session.ts';
import { ActButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { number, plural } from '../../ui/format.ts';
import { Card, Page } from '../../ui/layout.tsx';
import { Loaded, Notice } from '../../ui/states.tsx';
import { ChannelCards } from './channels.tsx';

export function CompanyPage() {
  const hidden = useRefusal('developer');
  const refusal = useRefusal('admin');
  return (
    <Page title="Company settings" description="What holds for all members, keys and subscriptions.">
      {hidden === undefined ? (
        <>
          <SecondFactor refusal={refusal} />
          <EndpointVerification refusal={refusal} />
          {refusal === undefined && <ChannelCards />}
        </>
      ) : (
        <Notice tone="info">{hidden}</Notice>
      )}
    </Page>
  );
}

interface SettingProps {
  readonly refusal: string | undefined;
}

function SecondFactor({ refusal }: SettingProps) {
  const required = useSession().company.secondFactorRequired;
  return (
    <Loaded query={useQuery(teamQuery)}>
      {({ members }) => {
        const without = members.filter((member) => !hasFactor(member)).length;
        const you = members.find((member) => member.you);
        const lacks = !required && you && !hasFactor(you);
        const reason = lacks ? 'Set up your own second factor under Your security first' : undefined;
        const all = plural(members.length, '# member');
        return (
          <Card
            title={required ? 'A second factor is required' : 'Second factor'}
            description={
              without === 0
                ? 'Everyone has one.'
                : required
                  ? `${number(without)} of ${all} without one can do nothing before setting one up.`
                  : `${number(without)} of ${all} without one: the password alone signs in.`
            }
            actions={
              <DialogButton
                name="require-factor"
                size="s"
                disabledReason={refusal ?? reason}
                dialog={(shown) => (
                  <ConfirmDialog
                    {...shown}
                    title={required ? 'Make the second factor optional?' : 'Require a second factor?'}
                    confirm={required ? 'Make it optional' : 'Require it'}
                    danger={required}
                    act={() => call('requireSecondFactor', { body: { required: !required } })}
                    done={required ? 'The second factor is optional' : 'The second factor is required'}
                  >
                    {required
                      ? 'Members may then remove theirs, and sign in with a password alone.'
                      : `${number(without)} of ${all} without one must set one up at the next click. So must new members when they join. API keys keep working.`}
                  </ConfirmDialog>
                )}
              >
                {required ? 'Make it optional…' : 'Require it…'}
              </DialogButton>
            }
          />
        );
      }}
    </Loaded>
  );
}

function EndpointVerification({ refusal }: SettingProps) {
  return (
    <Loaded query={useQuery(subscriptionSettingsQuery)}>
      {({ verifyEndpoints }) => (
        <Card
          title={verifyEndpoints ? 'Endpoints are verified' : 'Endpoint verification'}
          description="When it is on, a new subscription, or one with a new URL, gets deliveries only after its receiver has echoed a signed challenge. Existing subscriptions are not affected."
          actions={
            <ActButton
              size="s"
              disabledReason={refusal}
              act={() => call('updateSubscriptionSettings', { body: { verifyEndpoints: !verifyEndpoints } })}
              done={verifyEndpoints ? 'Endpoint verification turned off' : 'Endpoint verification turned on'}
              onDone={(settings) => queryClient.setQueryData(subscriptionSettingsQuery.queryKey, settings)}
            >
              {verifyEndpoints ? 'Turn off verification' : 'Turn on verification'}
            </ActButton>
          }
        />
      )}
    </Loaded>
  );
}
