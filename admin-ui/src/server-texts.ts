import type { EventType, NoticeKind } from '@causeway/proto';
import { type DetailCode, errorCodes, portalErrorCodes } from '@causeway/proto/errors';
import { t } from '@lingui/core/macro';
import type { ApiError } from './errors.ts';

// What the server says by a closed list of codes. Loaded only for languages other than English, in which the server answers.

/** Titles and descriptions of event types and of kinds of notifications. */
export const namedThings = (): Readonly<Record<EventType | NoticeKind, Named>> => ({
  'client.created': named(
    t`Client created`,
    t`A client was added: by hand, by an import or through the interface.`,
  ),
  'client.status_changed': named(
    t`Client status changed`,
    t`A client moved to another status, or a lead became a client.`,
  ),
  'lead.created': named(t`Lead created`, t`A new lead came in, for example from a web form.`),
  'invoice.created': named(t`Invoice created`, t`An invoice was written for a client.`),
  'invoice.status_changed': named(
    t`Invoice status changed`,
    t`An invoice was sent, paid, or became overdue.`,
  ),
  'payment.succeeded': named(t`Payment succeeded`, t`A client’s payment went through.`),
  'payment.failed': named(t`Payment failed`, t`A client’s payment was refused; the payload says why.`),
  'affiliate.created': named(t`Affiliate created`, t`An affiliate was added and awaits approval.`),
  'document.uploaded': named(t`Document uploaded`, t`A document was added to a client’s record.`),
  'agreement.signed': named(t`Agreement signed`, t`A client signed an agreement.`),
  subscription_failing: named(t`Subscription failing`, t`Five attempts in a row have failed.`),
  subscription_ending: named(
    t`Subscription about to be switched off`,
    t`Fifteen attempts in a row have failed; after twenty it is switched off.`,
  ),
  subscription_disabled: named(
    t`Subscription switched off`,
    t`Twenty attempts in a row have failed, the receiver answered 410 Gone, or the API key of its tool was revoked or has expired.`,
  ),
  subscription_recovered: named(
    t`Subscription recovered`,
    t`A failing subscription accepts deliveries again.`,
  ),
  delivery_given_up: named(
    t`Delivery given up`,
    t`The last attempt of a delivery has failed: the first one each day of each subscription.`,
  ),
  limit_near: named(
    t`API key near its limit`,
    t`A key has used 80 % of a limit in one minute: once a day for each key and limit.`,
  ),
  key_expiring: named(t`API key about to expire`, t`A key expires in seven days, and again in one day.`),
  access_changed: named(
    t`Members, roles and factors`,
    t`A member joined or left, or a role or a second factor changed. You are always shown changes of your own.`,
  ),
});

interface Named {
  readonly title: string;
  readonly description: string;
}

const named = (title: string, description: string): Named => ({ title, description });

const byReason = (): Readonly<Record<keyof typeof portalErrorCodes, string>> => ({
  signed_out: t`Sign in to continue`,
  wrong_credentials: t`The email address or the password is wrong`,
  wrong_code: t`The code is wrong`,
  cross_site: t`The request did not come from the portal itself`,
  wrong_passkey: t`This passkey opens nothing here; use another one, or sign in with your password`,
  proof_required: t`Confirm that it is you, then try again`,
  second_factor_required: t`Your company requires a second factor; set one up first`,
  role_required: t`Your role does not allow this`,
  conflict: t`The current state does not allow this`,
  reset_over: t`The link was used or replaced, or has expired`,
  invitation_over: t`The invitation was used or revoked, or has expired`,
  too_many_attempts: t`Too many attempts; wait before the next one`,
  too_many_requests: t`Too many requests at once`,
});

const byStatus = (): Readonly<Record<number, string>> => ({
  400: t`The request is not valid`,
  403: t`This is not allowed`,
  404: t`Not found`,
  409: t`The current state does not allow this`,
  410: t`This no longer exists`,
  412: t`The record was changed meanwhile`,
  413: t`The request is too large`,
  429: t`Too many requests at once`,
  500: t`Something went wrong on the server`,
  503: t`The service is not available at the moment`,
  504: t`The service did not answer in time`,
});

const byDetail = (): Readonly<Record<DetailCode, string>> => ({
  required: t`This is required`,
  unknown_field: t`This field does not exist`,
  read_only: t`This cannot be changed here`,
  too_long: t`This is too long`,
  too_short: t`This is too short`,
  invalid_characters: t`This does not have the right form`,
  email_invalid: t`This is not an email address`,
  phone_invalid: t`This is not a phone number`,
  not_found: t`This does not exist`,
  wrong_kind: t`This is of another kind`,
  inactive: t`This is inactive`,
  in_use: t`This is in use already`,
  out_of_range: t`This value is not allowed`,
  not_json: t`This is not JSON`,
  must_agree: t`This contradicts another value`,
  empty_update: t`Nothing was changed`,
});

const general: ReadonlySet<string> = new Set(
  [...Object.values(errorCodes), ...Object.values(portalErrorCodes)].map(({ message }) => message),
);
/** The server's message says no more. */
const sayAll: ReadonlySet<DetailCode> = new Set([
  'required',
  'email_invalid',
  'phone_invalid',
  'not_json',
  'empty_update',
]);

/** An error in the reader's language, with the server's own words in brackets where they say more than its code. */
export const translateProblem = (facts: ProblemFacts): ProblemFacts => {
  const { status, message, details, extra } = facts;
  const texts: Readonly<Record<string, string>> = { ...byStatus(), ...byReason() };
  const detailTexts = byDetail();
  const text = texts[String(extra.reason)] ?? texts[status];
  return {
    ...facts,
    message: text === undefined || general.has(message) ? (text ?? message) : `${text} (${message})`,
    details: details.map((one) => {
      const known = detailTexts[one.code];
      return { ...one, message: sayAll.has(one.code) ? known : `${known} (${one.message})` };
    }),
  };
};

type ProblemFacts = Pick<ApiError, 'status' | 'message' | 'details' | 'extra'>;
