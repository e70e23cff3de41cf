// Runs before the first paint: sets the chosen theme, decides which frame of `index.html` shows until the first page
// does, and asks for what a signed-in member needs: at once for the session, and for the rest when the frame is painted,
// so that it does not wait for them.
{
  const { dataset } = document.documentElement;
  let signedIn = false;
  try {
    const theme = localStorage.getItem('causeway.theme');
    if (theme === 'light' || theme === 'dark') dataset.theme = theme;
    signedIn = localStorage.getItem('causeway.signed-in') !== null;
  } catch {
    // Without storage: the system's theme, and no frame of the portal.
  }
  const isLink = /^\/portal\/(?:invitation|password)\b/.test(location.pathname);
  dataset.boot = isLink ? 'link' : signedIn ? 'in' : 'sign-in';
  const isOverview = location.pathname === '/portal/';
  if (isOverview) dataset.bootOverview = '';
  const ahead = (rel, href, more) =>
    document.head.append(Object.assign(document.createElement('link'), { rel, href, ...more }));
  const filesOf = (name) => document.querySelector(`meta[name="ahead-${name}"]`)?.content.split(' ') ?? [];
  const overviewAnswers = [
    'attention',
    'first-steps',
    'first-steps/deliveries',
    'usage?range=1h',
    'usage?range=24h',
    'deliveries/stats?range=24h',
  ];
  const answer = (path) =>
    ahead('preload', `/portal/api/v1/${path}`, { as: 'fetch', crossOrigin: 'anonymous' });
  let asked = false;
  const askAhead = () => {
    if (asked) return;
    asked = true;
    for (const file of filesOf('shell')) ahead('modulepreload', file);
    if (isOverview && location.search === '') {
      for (const file of filesOf('overview')) ahead('modulepreload', file);
      for (const path of overviewAnswers) answer(path);
    }
  };
  if (dataset.boot === 'in') {
    answer('session');
    new PerformanceObserver(askAhead).observe({ type: 'paint', buffered: true });
    // Hidden windows paint nothing; the code that comes next would ask itself.
    document.addEventListener('DOMContentLoaded', askAhead);
  }
  // The page signs in when its code is loaded.
  document.addEventListener('submit', (event) => {
    if (event.target.id !== 'boot-sign-in') return;
    event.preventDefault();
    dataset.bootSubmitted = '';
  });
}
