/** Runs what is not small once the browser has shown the answer to what was just pressed. */
export const afterPaint = (run: () => void): void => {
  // A frame that is not drawn, as behind another window, must not keep it from happening.
  const late = setTimeout(run, 100);
  requestAnimationFrame(() => {
    clearTimeout(late);
    setTimeout(run);
  });
};
