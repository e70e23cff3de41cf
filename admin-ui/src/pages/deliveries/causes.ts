import { t } from '@lingui/core/macro';
import type { Answer } from '../../api/client.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';

type Failure = Pick<Answer<'testPortalSubscription'>, 'errorClass' | 'statusCode'>;

interface Cause {
  readonly title: string;
  readonly advice: string;
}

export const causeOf = ({ errorClass, statusCode }: Failure): Cause | null => {
  if (errorClass === null) return null;
  return errorClass === 'status' ? ofStatus(statusCode ?? 0) : classes()[errorClass];
};

type OtherClass = Exclude<NonNullable<Failure['errorClass']>, 'status'>;

const classes = onFirstUse(
  (): Readonly<Record<OtherClass, Cause>> => ({
    dns: {
      title: t`Host name not found`,
      advice: t`Check the spelling of the URL, and that the domain still exists and has a public address in DNS.`,
    },
    connect: {
      title: t`Could not connect`,
      advice: t`The server may be down, or a firewall blocks us. Check that it listens on the port of the URL.`,
    },
    tls: {
      title: t`The secure connection could not be set up`,
      advice: t`Most often the certificate has expired, is for another name, or lacks its intermediate certificate.`,
    },
    timeout: {
      title: t`Timed out`,
      advice: t`Answer with 200 as soon as you receive the delivery, and process it afterwards.`,
    },
    reset: {
      title: t`Connection lost`,
      advice: t`The receiver, or a proxy in front of it, closed the connection without an answer. Check its logs.`,
    },
    redirect: {
      title: t`The receiver answered with a redirect`,
      advice: t`Redirects are not followed. Set the subscription to the final URL.`,
    },
    blocked_address: {
      title: t`Deliveries do not go to this URL`,
      advice: t`Its host is a private address or name, or its scheme or port is not allowed. Use a URL that can be reached from the internet.`,
    },
  }),
);

const statuses = onFirstUse(
  (): Readonly<Record<number, Cause>> => ({
    400: {
      title: t`The receiver did not understand the delivery (400)`,
      advice: t`Its answer below may say why. Compare it with the body that was sent.`,
    },
    401: {
      title: t`The receiver refused the delivery (401)`,
      advice: t`It probably checks the signature with another secret. Compare the secrets, or rotate the secret.`,
    },
    403: {
      title: t`The receiver refused the delivery (403)`,
      advice: t`It checks the signature with another secret, or a firewall rule blocks us.`,
    },
    404: {
      title: t`Not found (404)`,
      advice: t`The path of the URL may be mistyped, or the tool’s hook was deleted.`,
    },
    405: {
      title: t`The URL does not accept POST requests (405)`,
      advice: t`The URL probably leads to a page and not to a webhook.`,
    },
    410: {
      title: t`The receiver wants no more deliveries (410)`,
      advice: t`The hook was removed at the receiver, so the subscription was disabled.`,
    },
    413: {
      title: t`The delivery was too large for the receiver (413)`,
      advice: t`Raise its limit for request bodies.`,
    },
    429: {
      title: t`The receiver is rate limiting (429)`,
      advice: t`The delivery is retried after the time it asked for. No action is needed.`,
    },
  }),
);

const ofStatus = (status: number): Cause =>
  statuses()[status] ??
  (status >= 500
    ? {
        title: t`The receiver failed (${status})`,
        advice: t`Check the receiver’s logs at the time of the attempt.`,
      }
    : {
        title: t`The receiver answered ${status}`,
        advice: t`Only an answer from 200 to 299 counts as received.`,
      });
