/**
 * Payloads as a viewer sees them (portal, "Roles"). It is decided the safe way round: every text is taken out
 * but for those whose name says that they tell nothing of a person, so a field nobody thought of is hidden.
 */
export const masked = '•••';

export const maskPayload = (value: unknown): unknown => maskValue('', value);

/** The text of a body: JSON is masked as a payload, anything else whole. */
export const maskText = (text: string): string => {
  if (text.trim() === '') return text;
  try {
    return JSON.stringify(maskPayload(JSON.parse(text)));
  } catch {
    return masked;
  }
};

/** Ids and codes of the business, states, kinds, money and times. */
const plain =
  /^(?:id|type|event|currency|status|state|success|ok|error_code|code|reason|content_type|payment_method|invoice_number|affiliate_code|package_keyword|previous_status|new_status|failure_reason|.*_(?:id|status|type|utc|date|at|currency|count)|.*(?:Id|Status|Type|Utc|Date|At|Currency|Count))$/;
/** Where a number tells of a person. */
const personal = /phone|mobile|fax|zip|postal|ssn|tax|birth|account|iban|card/i;
const instant = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;
/** What stands under a harmless name can still be somebody's address. */
const telling = /@|^\+?[\d ()./-]{7,}$/;

const maskValue = (name: string, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => maskValue(name, item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        // A name that is itself data (`{"katherine@example.com": …}`) is not a field's.
        /^[\w.-]{1,64}$/.test(key) ? key : masked,
        maskValue(key, inner),
      ]),
    );
  if (typeof value === 'number') return personal.test(name) ? masked : value;
  if (typeof value !== 'string' || value === '') return value;
  if (personal.test(name)) return masked;
  if (instant.test(value)) return value;
  return plain.test(name) && !telling.test(value) ? value : masked;
};
