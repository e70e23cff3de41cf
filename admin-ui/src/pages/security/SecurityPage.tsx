import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { plural } from '../../ui/format.ts';
import { Facts, Quiet, Row, Stack } from '../../ui/Layout.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { ChangeName } from './ChangeName.tsx';
import { ChangePassword } from './ChangePassword.tsx';
import { DisableTotp } from './DisableTotp.tsx';
import { EnableTotp } from './EnableTotp.tsx';
import { RecoveryCodes } from './RecoveryCodes.tsx';
import { securityRoute } from './route.ts';
import { Sessions } from './Sessions.tsx';

type DialogName = NonNullable<ReturnType<typeof securityRoute.useSearch>['dialog']>;

export function SecurityPage() {
  const { dialog } = securityRoute.useSearch();
  const navigate = useNavigate({ from: '/security' });
  const open = (name: DialogName): void => void navigate({ search: { dialog: name } });
  const close = (): void => void navigate({ search: {}, replace: true });
  const { user } = useSession();
  return (
    <Page title="Your security" description="Your own account: how you sign in, and where you are signed in.">
      <Card
        title="Profile"
        actions={
          <Button size="s" onClick={() => open('name')}>
            Change name
          </Button>
        }
      >
        <Facts
          columns={12}
          facts={[
            { label: 'Name', value: user.name || <Quiet>Not given yet</Quiet> },
            { label: 'Email', value: user.email },
            { label: 'Role', value: <Badge tone="accent">{user.role}</Badge> },
          ]}
        />
      </Card>
      <Card
        title="Password"
        description="At least 12 characters. Changing it signs you out everywhere else."
        actions={
          <Button size="s" onClick={() => open('password')}>
            Change password
          </Button>
        }
      />
      <Card
        title="Two-factor sign-in"
        description="Besides the password, a code of an app on your phone is asked for. A stolen password is useless then."
        actions={
          user.totpEnabled ? (
            <Row>
              <Button size="s" onClick={() => open('codes')}>
                New recovery codes
              </Button>
              <Button size="s" onClick={() => open('totp-off')}>
                Switch off
              </Button>
            </Row>
          ) : (
            <Button size="s" variant="primary" onClick={() => open('totp-on')}>
              Switch on
            </Button>
          )
        }
      >
        <Stack gap="s">
          <div>
            <Badge tone={user.totpEnabled ? 'good' : 'warn'} dot>
              {user.totpEnabled ? 'On' : 'Off'}
            </Badge>
          </div>
          {user.totpEnabled && user.recoveryCodesLeft < 4 && (
            <Notice tone="warn">
              You have {plural(user.recoveryCodesLeft, 'recovery code')} left. Make new ones before they run
              out.
            </Notice>
          )}
          {user.totpEnabled && user.recoveryCodesLeft >= 4 && (
            <p>{plural(user.recoveryCodesLeft, 'recovery code')} left, for when the phone is lost.</p>
          )}
        </Stack>
      </Card>
      <Sessions asking={dialog === 'others'} onAsk={() => open('others')} onClose={close} />
      {dialog === 'name' && <ChangeName onClose={close} />}
      {dialog === 'password' && <ChangePassword onClose={close} />}
      <EnableTotp open={dialog === 'totp-on' && !user.totpEnabled} onClose={close} />
      {dialog === 'totp-off' && user.totpEnabled && <DisableTotp onClose={close} />}
      <RecoveryCodes open={dialog === 'codes' && user.totpEnabled} onClose={close} />
    </Page>
  );
}
