// Sets the chosen theme before the first paint, and asks for the session while the portal's code loads.
try {
  const theme = localStorage.getItem('causeway.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  // `hintKey`, and the first request of `App`, which takes this answer.
  if (localStorage.getItem('causeway.signed-in') !== null) {
    const ahead = { rel: 'preload', as: 'fetch', crossOrigin: '', href: '/portal/api/v1/session' };
    document.head.append(Object.assign(document.createElement('link'), ahead));
  }
} catch {
  // Without storage: the system's theme, and the session later.
}
