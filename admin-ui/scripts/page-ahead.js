// The head of `page-ahead.js`, which the build completes with `base`, `files` and `calls`.
const [first, id, ...more] = location.pathname.slice(base.length).split('/');
const list = first || 'overview';
const name =
  id === undefined ? list : list === 'clients' ? 'record' : list.replace(/ies$/, 'y').replace(/s$/, '');

/** Of this page; any name may stand in an address. */
const own = (table) => (Object.hasOwn(table, name) ? table[name] : undefined);
const load = (link) => document.head.append(Object.assign(document.createElement('link'), link));
const ask = (path) => load({ rel: 'preload', as: 'fetch', crossOrigin: '', href: `${base}api/v1/${path}` });

let isSignedIn = false;
try {
  // `hintKey`
  isSignedIn = localStorage.getItem('causeway.signed-in') !== null;
} catch {
  // Without storage, the portal asks for the session later.
}
if (isSignedIn) {
  ask('session');
  const isPlain = location.search === '' && more.length === 0 && /^\d+$/.test(id ?? '0');
  const wanted = own(calls);
  // To the minute, as `minutesAgo` has it.
  const dayAgo = new Date(Math.floor(Date.now() / 60_000 - 1440) * 60_000).toISOString();
  if (wanted && isPlain)
    for (const path of wanted) ask(path.replace('{id}', id).replace('{24h}', encodeURIComponent(dayAgo)));
  if (wanted) for (const path of ['attention', 'usage?range=1h']) ask(path);
}
for (const file of own(files) ?? []) load({ rel: 'modulepreload', href: base + file });
