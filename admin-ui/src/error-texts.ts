import { type DetailCode, errorCodes, portalErrorCodes } from '@causeway/proto/errors';
import { t } from '@lingui/core/macro';
import type { ApiError } from './errors.ts';

// Loaded only for languages other than English, in which the server answers. Its own words follow in brackets where they
// say more than the code does.

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

/** The facts of an answer that says an error, in the reader's language. */
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
