/** Masks payloads for viewers: only fields whose names are known to hold no personal data stay readable. */
export const masked = '•••';

export const maskPayload = (value: unknown): unknown => maskValue('', value);

/** JSON as a payload, anything else as a whole. */
export const maskText = (text: string): string => {
  if (text.trim() === '') return text;
  try {
    return JSON.stringify(maskPayload(JSON.parse(text)));
  } catch {
    return masked;
  }
};

const plain =
  /^(?:id|type|event|currency|status|state|success|ok|error_code|code|reason|content_type|payment_method|invoice_number|affiliate_code|package_keyword|previous_status|new_status|failure_reason|.*_(?:id|status|type|utc|date|at|currency|count)|.*(?:Id|Status|Type|Utc|Date|At|Currency|Count))$/;
const personal = /phone|mobile|fax|zip|postal|ssn|tax|birth|account|iban|card/i;
const instant = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;
const telling = /@|^\+?[\d ()./-]{7,}$/;

const maskValue = (name: string, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => maskValue(name, item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        // A key that is itself data (`{"katherine@example.com": …}`) is not a field name.
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

/**
 * Masks what can be a token: user info, path parts other than words, the values of the query, the fragment.
 */
export const maskUrl = (text: string): string => {
  const url = URL.parse(text);
  if (!url) return masked;
  const user = url.username || url.password ? `${masked}@` : '';
  const path = url.pathname
    .split('/')
    .map((part) => (part === '' || plainPart.test(part) ? part : masked))
    .join('/');
  const query = url.search
    .slice(1)
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const [name = '', value] = pair.split('=', 2);
      if (value === undefined || !plainPart.test(name)) return masked;
      return `${name}=${masked}`;
    });
  return `${url.protocol}//${user}${url.host}${path}${query.length > 0 ? `?${query.join('&')}` : ''}${url.hash ? `#${masked}` : ''}`;
};

/** A token has digits or capitals, or is long. */
const plainPart = /^(?:v\d{1,2}|(?=.{1,32}$)[a-z]{1,16}(?:[-_.][a-z]{1,16})*)$/;

/** Only headers that are known to hold no token stay. */
export const maskHeaders = (
  headers: readonly (readonly [name: string, value: string])[],
): (readonly [string, string])[] =>
  headers.map(([name, value]) => [name, plainHeaders.test(name) ? value : masked]);

const plainHeaders =
  /^(?:accept(?:-encoding|-ranges)?|age|allow|cache-control|connection|content-(?:encoding|language|length|type)|date|expires|host|keep-alive|last-modified|retry-after|server|transfer-encoding|user-agent|vary|x-webhook-(?:attempt|event|id|origin|replay|sequence|signature|subscription|timestamp)|webhook-(?:id|signature|timestamp))$/i;

/** A condition may name a person: its values are masked as those of its field in a payload. */
const maskCondition = (condition: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(
    Object.entries(condition).map(([name, value]) => [
      name,
      name === 'field' || typeof value === 'boolean' ? value : maskValue(String(condition.field), value),
    ]),
  );

/** Masks every field `url`, `headers` and `conditions`, however deep, so that operations added later are masked too. */
export const maskTargets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskTargets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === 'url' && typeof inner === 'string') return [name, maskUrl(inner)];
      if (name === 'headers' && Array.isArray(inner)) return [name, maskHeaders(inner)];
      if (name === 'conditions' && Array.isArray(inner)) return [name, inner.map(maskCondition)];
      return [name, maskTargets(inner)];
    }),
  );
};
