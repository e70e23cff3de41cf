// Sets the chosen theme before the first paint.
try {
  const theme = localStorage.getItem('causeway.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage: the system's theme.
}
