import type { Answer } from '../../../api/types.ts';

type Failure = Pick<Answer<'testPortalSubscription'>, 'errorClass' | 'statusCode'>;

interface Cause {
  /** What happened. */
  readonly title: string;
  /** What to do about it. */
  readonly advice: string;
}

/** Why an attempt failed, in plain words, and what helps. Null for one that did not fail. */
export const causeOf = ({ errorClass, statusCode }: Failure): Cause | null => {
  if (errorClass === null) return null;
  return errorClass === 'status' ? ofStatus(statusCode ?? 0) : classes[errorClass];
};

type OtherClass = Exclude<NonNullable<Failure['errorClass']>, 'status'>;

const classes: Readonly<Record<OtherClass, Cause>> = {
  dns: {
    title: 'The host name could not be found',
    advice:
      'Check the spelling of the URL, and that the domain still exists and has a public address in DNS.',
  },
  connect: {
    title: 'No connection could be made',
    advice:
      'The server may be down, or a firewall keeps us out. Check that it listens on the port of the URL.',
  },
  tls: {
    title: 'The secure connection could not be set up',
    advice:
      'Most often the certificate has expired, is for another name, or lacks its intermediate certificate.',
  },
  timeout: {
    title: 'There was no answer in time',
    advice: 'Answer with 200 as soon as the delivery has arrived, and do the work afterwards.',
  },
  reset: {
    title: 'The connection broke off',
    advice:
      'The receiver, or a proxy before it, closed the connection without an answer. Look into its logs.',
  },
  redirect: {
    title: 'The receiver answered with a redirect',
    advice: 'Redirects are not followed. Put the final address into the subscription.',
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
    advice: 'Its answer below may say what it missed. Compare it with the body that was sent.',
  },
  401: {
    title: 'The receiver refused the delivery (401)',
    advice: 'It probably checks the signature with another secret. Compare it, or renew the secret.',
  },
  403: {
    title: 'The receiver refused the delivery (403)',
    advice: 'It checks the signature with another secret, or a firewall rule refuses us.',
  },
  404: {
    title: 'There is nothing at this address (404)',
    advice: 'The path of the URL may be mistyped, or the tool’s hook was deleted.',
  },
  405: {
    title: 'The receiver takes no POST requests here (405)',
    advice: 'The URL probably leads to a page and not to a webhook.',
  },
  410: {
    title: 'The receiver wants no more deliveries (410)',
    advice: 'The hook was removed at the receiver, so the subscription is switched off.',
  },
  413: {
    title: 'The delivery was too large for the receiver (413)',
    advice: 'Raise its limit for request bodies; a payload has at most 256 KiB.',
  },
  429: {
    title: 'The receiver takes no more for now (429)',
    advice: 'It is tried again later, after the time it asked for. Nothing needs to be done.',
  },
};

const ofStatus = (status: number): Cause =>
  statuses[status] ??
  (status >= 500
    ? {
        title: `The receiver failed (${status})`,
        advice: 'Something went wrong on its side. Its logs of the time of the attempt say what.',
      }
    : {
        title: `The receiver answered ${status}`,
        advice: 'Only an answer from 200 to 299 counts as received.',
      });
