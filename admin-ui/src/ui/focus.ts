/** Longer than a dialog takes to close and to give the focus back. */
const goneMs = 300;

/**
 * When the element that has the focus goes, such as a deleted row, the page's heading gets it; or the keyboard would begin again
 * at the top of the page. What leads to another page leaves the focus to that page.
 */
export const keepFocus = (): void => {
  let focused: Element | undefined;
  let path = '';
  const toHeading = (): void => {
    if (document.activeElement !== document.body || location.pathname !== path) return;
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  };
  addEventListener('focusin', ({ target }) => {
    focused = target instanceof Element ? target : undefined;
    path = location.pathname;
  });
  const observer = new MutationObserver(() => {
    if (!focused || focused.isConnected) return;
    focused = undefined;
    setTimeout(toHeading, goneMs);
  });
  observer.observe(document.body, { childList: true, subtree: true });
};
