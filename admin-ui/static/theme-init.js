// Runs before the first paint: sets the chosen theme, and which frame of `index.html` shows until the first page does.
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
  // The page signs in when its code is loaded.
  document.addEventListener('submit', (event) => {
    if (event.target.id !== 'boot-sign-in') return;
    event.preventDefault();
    dataset.bootSubmitted = '';
  });
}
