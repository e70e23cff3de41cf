/** Downloads a text as a file. */
export const save = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // Browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};
