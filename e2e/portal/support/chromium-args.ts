/** Nothing a browser asks of the world by itself; no sandbox, as tests may run as root. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
