import type { Page } from '@playwright/test';

/** What a person notices of a page, as browsers measure it (Web Vitals). */
export interface Vitals {
  /** First contentful paint, ms after the navigation began. */
  readonly fcpMs: number;
  /** Largest contentful paint, ms after the navigation began. */
  readonly lcpMs: number;
  /** When the signed-in page had its heading and waited for no more answers, ms after the navigation began. */
  readonly completeMs: number;
  /** Cumulative layout shift: the worst burst of shifts without user input. */
  readonly cls: number;
  /** What shifted most: `section.card by 0.12`. */
  readonly shifted: string;
  /** The slowest interaction, ms from the input to the next paint. */
  readonly inpMs: number;
  /** The slowest interaction: `click on button Create API key`. */
  readonly slowest: string;
}

/** A page is complete from when on nothing was loading for so long. */
const calmMs = 500;

/** Runs in the page before other scripts. A burst of shifts lasts at most 5 s and has no pause of 1 s. */
const observer = `
  window.vitals = { fcpMs: 0, lcpMs: 0, completeMs: 0, cls: 0, shifted: '', inpMs: 0, slowest: '' };
  const observe = (type, take, more) => new PerformanceObserver((list) => list.getEntries().forEach(take))
    .observe({ type, buffered: true, ...more });
  observe('paint', (entry) => { if (entry.name === 'first-contentful-paint') vitals.fcpMs = entry.startTime; });
  observe('largest-contentful-paint', (entry) => { vitals.lcpMs = entry.startTime; });
  window.complete = new Promise((done) => {
    let since = 0;
    const look = () => {
      const isComplete = document.querySelector('#main h1') && !document.querySelector('[aria-busy="true"]');
      if (!isComplete) since = 0;
      else since ||= performance.now();
      vitals.completeMs = since;
      if (since > 0 && performance.now() - since > ${calmMs}) done(since);
      else requestAnimationFrame(look);
    };
    look();
  });
  observe('event', (entry) => {
    if (entry.interactionId === 0 || entry.duration <= vitals.inpMs) return;
    vitals.inpMs = entry.duration;
    const { localName = 'page', textContent = '' } = entry.target ?? {};
    vitals.slowest = [entry.name, 'on', localName, textContent.slice(0, 30)].join(' ').trim();
  }, { durationThreshold: 16 });
  let burst = 0, began = 0, last = 0, most = 0;
  const nameOf = (node) => node ? [node.localName, node.className, (node.textContent ?? '').slice(0, 30)].join(' ') : 'an element that is gone';
  observe('layout-shift', (entry) => {
    if (entry.hadRecentInput) return;
    const goesOn = entry.startTime - last < 1000 && entry.startTime - began < 5000;
    if (!goesOn) { burst = 0; began = entry.startTime; }
    last = entry.startTime;
    burst += entry.value;
    if (entry.value > most) {
      most = entry.value;
      vitals.shifted = entry.sources.map(({ node }) => nameOf(node?.localName ? node : node?.parentElement)).join(', ');
    }
    vitals.cls = Math.max(vitals.cls, burst);
  });
`;

/** Resolves when the page has been complete for a moment, and rejects after a minute. */
export const whenComplete = (page: Page): Promise<unknown> =>
  page.evaluate(
    "Promise.race([complete, new Promise((_, fail) => setTimeout(fail, 60_000, new Error('never complete')))])",
  );

export const observeVitals = (page: Page): Promise<unknown> => page.addInitScript(observer);

/** Reads two frames later, so that pending paints count. */
export const readVitals = (page: Page): Promise<Vitals> =>
  page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(vitals))))',
  ) as Promise<Vitals>;
