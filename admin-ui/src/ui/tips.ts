import { formatFull } from './format.ts';
import s from './tips.module.css';

/** One listener serves the page, so that tables of many rows cost nothing. Screen readers read the element. */
export const watchTips = (): void => {
  const tip = document.createElement('div');
  tip.className = s.tip ?? '';
  tip.popover = 'manual';
  tip.ariaHidden = 'true';
  tip.dir = 'auto';
  let anchor: Element | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const hide = (): void => {
    clearTimeout(timer);
    anchor = null;
    if (tip.isConnected && tip.matches(':popover-open')) tip.hidePopover();
  };
  const show = (owner: HTMLElement): void => {
    if (!owner.isConnected) return;
    anchor = owner;
    if (!tip.isConnected) document.body.append(tip);
    tip.textContent = tipOf(owner);
    tip.showPopover();
    place(tip, owner);
  };
  const offer = (owner: HTMLElement | null, delayMs: number): void => {
    if (owner === anchor && owner !== null) return;
    hide();
    if (owner && hasTip(owner)) timer = setTimeout(() => show(owner), delayMs);
  };

  const over = ({ target }: Event): void => {
    if (target instanceof Element && !tip.contains(target)) offer(ownerOf(target), pointerDelayMs);
  };
  const focus = ({ target }: Event): void => {
    // A dialog that has the focus itself shows no tip of what is in it.
    if (target instanceof HTMLElement && target.matches(':focus-visible:not([role="dialog"])'))
      offer(ownerOf(target) ?? target.querySelector<HTMLElement>('[data-tip]'), 0);
  };
  addEventListener('pointerover', over, { passive: true });
  document.addEventListener('pointerleave', hide);
  addEventListener('focusin', focus);
  addEventListener('focusout', hide);
  addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), { capture: true });
  addEventListener('scroll', hide, { capture: true, passive: true });
};

const pointerDelayMs = 250;

const ownerOf = (element: Element): HTMLElement | null => element.closest<HTMLElement>('[data-tip], time');

/** A time is written in full only for this: the first takes a slow device a tenth of a second. */
const tipOf = (owner: HTMLElement): string =>
  owner instanceof HTMLTimeElement ? formatFull(owner.dateTime) : (owner.dataset.tip ?? '');

const hasTip = (owner: HTMLElement): boolean =>
  owner.dataset.tip !== '' && (owner.dataset.tipCut === undefined || owner.scrollWidth > owner.clientWidth);

const marginPx = 6;

const place = (tip: HTMLElement, owner: Element): void => {
  const box = owner.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = Math.min(
    Math.max(box.left + (box.width - width) / 2, marginPx),
    innerWidth - width - marginPx,
  );
  const above = box.top - height - marginPx;
  tip.style.left = `${left}px`;
  tip.style.top = `${above >= marginPx ? above : box.bottom + marginPx}px`;
};
