import type { Answer } from './client.ts';

type Failure = Pick<Answer<'testPortalSubscription'>, 'errorClass' | 'statusCode'>;

interface Cause {
  readonly title: string;
  readonly advice: string;
}

export const causeOf = ({ errorClass, statusCode }: Failure): Cause | null => {
  if (errorClass === null) return null;
  return errorClass === 'status' ? ofStatus(statusCode ?? 0) : classes[errorClass];
};

type OtherClass = Exclude<NonNullable<Failure['errorClass']>, 'status'>;

const classes: Readonly<Record<OtherClass, Cause>> = {
  dns: {
    title: 'Host name not found',
    advice:
      'Check the spelling of the URL, and that the domain still exists and has a public address in DNS.',
  },
  connect: {
    title: 'Could not connect',
    advice: 'The server may be down, or a firewall blocks us. Check that it listens on the port of the URL.',
  },
  tls: {
    title: 'The secure connection could not be set up',
    advice:
      'Most often the certificate has expired, is for another name, or lacks its intermediate certificate.',
  },
  timeout: {
    title: 'Timed out',
    advice: 'Answer with 200 as soon as you receive the delivery, and process it afterwards.',
  },
  reset: {
    title: 'Connection lost',
    advice:
      'The receiver, or a proxy in front of it, closed the connection without an answer. Check its logs.',
  },
  redirect: {
    title: 'The receiver answered with a redirect',
    advice: 'Redirects are not followed. Set the subscription to the final URL.',
  },
  blocked_address: {
    title: 'Deliveries do not go to this URL',
    advice:
      'Its host is a private address or name, or its scheme or port is not allowed. Use a URL that can be reached from the internet.',
  },
};

const statuses: Readonly<Record<number, Cause>> = {
  400: {
    title: 'The receiver did not understand the delivery (400)',
    advice: 'Its answer below may say why. Compare it with the body that was sent.',
  },
  401: {
    title: 'The receiver refused the delivery (401)',
    advice:
      'It probably checks the signature with another secret. Compare the secrets, or rotate the secret.',
  },
  403: {
    title: 'The receiver refused the delivery (403)',
    advice: 'It checks the signature with another secret, or a firewall rule blocks us.',
  },
  404: {
    title: 'Not found (404)',
    advice: 'The path of the URL may be mistyped, or the tool’s hook was deleted.',
  },
  405: {
    title: 'The URL does not accept POST requests (405)',
    advice: 'The URL probably leads to a page and not to a webhook.',
  },
  410: {
    title: 'The receiver wants no more deliveries (410)',
    advice: 'The hook was removed at the receiver, so the subscription was disabled.',
  },
  413: {
    title: 'The delivery was too large for the receiver (413)',
    advice: 'Raise its limit for request bodies.',
  },
  429: {
    title: 'The receiver is rate limiting (429)',
    advice: 'The delivery is retried after the time it asked for. No action is needed.',
  },
};

const ofStatus = (status: number): Cause =>
  statuses[status] ??
  (status >= 500
    ? {
        title: `The receiver failed (${status})`,
        advice: 'Check the receiver’s logs at the time of the attempt.',
      }
    : {
        title: `The receiver answered ${status}`,
        advice: 'Only an answer from 200 to 299 counts as received.',
      });
