import { useState } from 'react';
import { call } from '../../model/client.ts';
import { NewPasswordField } from '../../model/credential-fields.tsx';
import { queryClient } from '../../model/query-client.ts';
import { sessionQuery, useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { DialogButton, useDialog } from '../../ui/dialog-button.tsx';
import { Field, Form, PasswordInput, TextInput } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { plural } from '../../ui/format.ts';
import { Card, Facts, Page, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { Badge, Cut } from '../../ui/values.tsx';
import { Passkeys } from './passkeys.tsx';
import { Sessions } from './sessions.tsx';
import { DisableTotp, EnableTotp, RecoveryCodes } from './two-factor.tsx';

export function SecurityPage() {
  const { dialog, open, close } = useDialog();
  const { user, company, otherCompanies } = useSession();
  const companyName = company.name;
  const hasFactor = user.totpEnabled || user.passkeys > 0;
  return (
    <Page title="Your security" description="How you sign in, and where you are signed in.">
      <Card
        title="Profile"
        actions={
          <DialogButton
            name="name"
            size="s"
            dialog={({ open, onClose }) => open && <ChangeName onClose={onClose} />}
          >
            Change name
          </DialogButton>
        }
      >
        <Facts
          columns={12}
          facts={{
            Name: user.name || <Quiet>Not set</Quiet>,
            Email: <Cut text={user.email} />,
            Role: <Badge tone="accent">{user.role}</Badge>,
          }}
        />
      </Card>
      <Card
        title="Password"
        description={
          otherCompanies.length > 0
            ? `Changing it ends your other sessions in ${companyName}. Your passwords in other companies do not change.`
            : 'Changing it ends your other sessions.'
        }
        actions={
          <DialogButton
            name="password"
            size="s"
            dialog={({ open, onClose }) => open && <ChangePassword onClose={onClose} />}
          >
            Change password
          </DialogButton>
        }
      />
      <Card
        title={hasFactor ? 'Authenticator app and recovery codes' : 'Authenticator app'}
        description="After your password, you enter a code from an app on your phone. A stolen password alone is then not enough to sign in."
        actions={
          <Row>
            {hasFactor && (
              <DialogButton name="codes" size="s" dialog={(shown) => <RecoveryCodes {...shown} />}>
                Create recovery codes
              </DialogButton>
            )}
            {user.totpEnabled ? (
              <DialogButton name="totp-off" size="s" dialog={(shown) => <DisableTotp {...shown} />}>
                Turn off
              </DialogButton>
            ) : (
              <Button size="s" variant="primary" onClick={() => open('totp-on')}>
                Turn on
              </Button>
            )}
          </Row>
        }
      >
        <Stack gap="s">
          <div>
            <Badge tone={user.totpEnabled ? 'good' : hasFactor ? 'neutral' : 'warn'} dot>
              {user.totpEnabled ? 'On' : 'Off'}
            </Badge>
          </div>
          {hasFactor && user.recoveryCodesLeft < 4 && (
            <Notice tone="warn">
              You have {plural(user.recoveryCodesLeft, '# recovery code')} left. Create new ones before they
              run out.
            </Notice>
          )}
          {hasFactor && user.recoveryCodesLeft >= 4 && (
            <p>
              {plural(user.recoveryCodesLeft, '# recovery code')} left. Use one to sign in if you lose your
              phone or passkeys.
            </p>
          )}
        </Stack>
      </Card>
      <Passkeys />
      <Sessions />
      {/* Its codes are shown once, also when the session says already that it is on. */}
      <EnableTotp open={dialog === 'totp-on' && !user.totpEnabled} onClose={close} />
    </Page>
  );
}

function ChangeName({ onClose }: { readonly onClose: () => void }) {
  const { user } = useSession();
  const draft = useDraft('security/name', { name: user.name }, { name: 'Name' });
  const { name } = draft.values;
  return (
    <Dialog open onClose={onClose} title="Change your name" size="s">
      <Form
        draft={draft}
        act={() => call('updateProfile', { body: { name } })}
        onDone={(session) => {
          queryClient.setQueryData(sessionQuery.queryKey, session);
          onClose();
        }}
        submit="Save"
        onCancel={onClose}
      >
        <Field label="Name" name="name">
          <TextInput autoComplete="name" {...draft.bind('name')} />
        </Field>
      </Form>
    </Dialog>
  );
}

function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const { email } = useSession().user;
  return (
    <Dialog open onClose={onClose} title="Change password" size="s">
      <Form
        act={() => call('changePassword', { body: { currentPassword, newPassword } })}
        done="Password changed"
        onDone={onClose}
        submit="Change password"
        onCancel={onClose}
      >
        <Field label="Current password" name="currentPassword">
          <PasswordInput autoComplete="current-password" value={currentPassword} onValue={setCurrent} />
        </Field>
        <NewPasswordField
          label="New password"
          name="newPassword"
          email={email}
          value={newPassword}
          onChange={setNew}
        />
      </Form>
    </Dialog>
  );
}
